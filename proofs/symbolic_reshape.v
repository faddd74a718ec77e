(* Theorem R on symbols: the reshape of blocks as a program, with masks.

   What: `reshaping` is reshape_blocks in engine/view/reshape.cpp. Where its trace holds, the strides and ranges that it
         finds are the blocks, read in the target shape (reshaping_right).
   Why:  a reshape of a view, and a merge whose outer view is a reshape with movements on top, rest on it. *)
Require Import ZArith Lia List Bool.
Require Import ZArith Lia List Bool.
From Oriel Require Import mixed_radix masked_view canonical_unique canonicalize interval_box guards asking.
From Oriel Require Import symbolic_view.
From Oriel Require Import symbolic_blocks symbolic_interval merge_walk.
Import ListNotations.
Open Scope Z_scope.

Section Symbolic.
Context {assignment : Type}.
Notation program := (program assignment).
Notation size := (assignment -> Z).
Notation saxis := (@saxis assignment).
Notation found := (@found assignment).

Section Run.
Variable h : assignment.

(* The target axes that fill block b, with their strides, and the rest of the target. `w`: the positions so far. *)
Fixpoint group (b : saxis) (w : size) (target : list size) : program (option (list (size * size) * list size)) :=
  bind (given h (fun x => w x =? s_extent b x)) (fun filled => if filled then Ret (Some ([], target)) else
  match target with
  | [] => Ret None
  | r :: target =>
    let next := fun x => w x * r x in
    let divides := fun x => s_extent b x mod next x =? 0 in
    bind (if divides h then Ret true else Ask divides (fun d => Ret d)) (fun d => if d then
      bind (group b next target) (fun g => Ret (match g with
        | Some (g, rest) => Some ((r, fun x => s_stride b x * w x) :: g, rest)
        | None => None
        end))
    else Ret None)
  end).

Definition group_masks (target : list size) (b : saxis) (digits : list size) : program (option (list (size * size))) :=
  bind (given h (full_axis b)) (fun full => if full then Ret (Some (map (fun r => (number 0, r)) digits)) else
  Ask (fun x => existsb (fun r => r x =? 0) target) (fun zero => if zero then Ret None else
  bind (interval_masks (s_extent b) (s_lo b) (s_hi b) (rev digits)) (fun ms => Ret (option_map (@rev _) ms)))).

Fixpoint found_of (g ms : list (size * size)) : list found :=
  match g, ms with
  | (_, t) :: g, (p, q) :: ms => Found t p q :: found_of g ms
  | _, _ => []
  end.

(* None: no view has this shape. The innermost axes of the target come first. *)
Fixpoint reshaping (all : list size) (bs : list saxis) (target : list size) : program (option (list found)) :=
  match bs with
  | [] => Ret (Some (map (fun r => Found (number 0) (number 0) r) target))
  | b :: bs => bind (group b (number 1) target) (fun g => match g with None => Ret None | Some (g, rest) =>
      bind (group_masks all b (map fst g)) (fun ms => match ms with None => Ret None | Some ms =>
      bind (reshaping all bs rest) (fun r => Ret (option_map (app (found_of g ms)) r)) end) end)
  end.

(* ---- at one assignment *)

Variable x : assignment.

Lemma group_right target : forall b w, ensures h x (group b w target) (fun g => match g with
  | None => True
  | Some (g, rest) => target = map fst g ++ rest /\
      w h * product (sizes_at h (map fst g)) = s_extent b h /\ w x * product (sizes_at x (map fst g)) = s_extent b x /\
      forall ms y, length ms = length g -> length y = length g ->
        found_value x (found_of g ms) y = s_stride b x * w x * ravel (sizes_at x (map fst g)) y
  end).
Proof.
  assert (Done : forall target (b : saxis) w, (w h =? s_extent b h) = true -> (w x =? s_extent b x) = true ->
    ensures h x (Ret (Some ([], target))) (fun g : option (list (size * size) * list size) => match g with
    | None => True
    | Some (g, rest) => target = map fst g ++ rest /\
      w h * product (sizes_at h (map fst g)) = s_extent b h /\ w x * product (sizes_at x (map fst g)) = s_extent b x /\
      forall ms y, length ms = length g -> length y = length g ->
        found_value x (found_of g ms) y = s_stride b x * w x * ravel (sizes_at x (map fst g)) y
    end)).
  { intros t b w Eh Ex. apply Z.eqb_eq in Eh, Ex. by_ret. unfold product. simpl. repeat split; try lia. }
  induction target as [|r target IH]; intros b w; cbn [group]; by_given; try (apply Done; assumption); [by_ret;
    exact I|].
  clear Done. by_bind. eapply (ensures_weaken _ _ _ (fun _ => True)).
  { destruct (_ =? 0); [by_ret; exact I|]. apply ensures_ask. intros. by_ret. exact I. }
  intros [] _; [|by_ret; exact I]. by_bind. apply (ensures_weaken _ _ _ _ _ (IH b (fun x => w x * r x))).
  intros [[g rest]|] G; by_ret; auto. destruct G as (-> & Ph & Px & V). simpl map. unfold product, sizes_at in *.
  cbn [map fold_right]. split; [reflexivity|]. split; [lia|]. split; [lia|].
  intros [|[p q] ms] [|j y] Lm Ly; try discriminate. cbn [found_of found_value slope ravel].
  rewrite (V ms y) by (simpl in *; congruence). ring.
Qed.

Definition sizes_positive (z : assignment) (l : list size) := Forall (fun n : size => 0 <= n z) l.

Lemma not_zero (z : assignment) l : sizes_positive z l -> existsb (fun r : size => r z =? 0) l = false ->
  positive (sizes_at z l).
Proof.
  induction 1 as [|r l H _ IH]; simpl; [constructor|]. rewrite orb_false_iff, Z.eqb_neq. intros [N E].
  constructor; [lia | apply IH, E].
Qed.

Lemma sizes_rev (z : assignment) l : sizes_at z (rev l) = rev (sizes_at z l).
Proof. apply map_rev. Qed.
Lemma masks_rev (z : assignment) l : masks_at z (rev l) = rev (masks_at z l).
Proof. apply map_rev. Qed.

Lemma group_masks_right target b digits : incl digits target ->
  sizes_positive h target -> sizes_positive x target -> product (sizes_at h digits) = s_extent b h ->
  product (sizes_at x digits) = s_extent b x -> view_axis (axis_at x b) -> certain h x b ->
  ensures h x (group_masks target b digits) (fun r => match r with
    | None => True
    | Some ms => length ms = length digits /\ Forall2 (fun p n => 0 <= fst p /\
      snd p <= n) (masks_at x ms) (sizes_at x digits) /\
        forall y, box (sizes_at x digits) y -> (valid (axis_at x b) (ravel (sizes_at x digits) y) = true <-> within
          (masks_at x ms) y)
    end).
Proof.
  intros Incl Ph Px Eh Ex V ((C1 & C2) & C3). unfold group_masks. by_given.
  { by_ret. split; [apply map_length|]. unfold masks_at. rewrite map_map. split.
    - clear. induction digits; constructor; auto. unfold number. simpl. lia.
    - intros y B. pose proof (ravel_range _ y B) as R. rewrite Ex in R. unfold full_axis, full in *.
      match goal with H : (_ && _) = true |- _ => rewrite andb_true_iff, !Z.eqb_eq in H; simpl in H;
        destruct H as [F1 F2] end.
      rewrite valid_true by (simpl; lia).
      split; [|reflexivity]. intros _. clear -B. revert y B.
      induction digits as [|r l IH]; intros [|j y] B; simpl in *; auto.
      unfold number. split; [tauto|]. apply IH, B. }
  apply ensures_ask; intros zero Zh Zx. destruct zero; [by_ret; exact I|].
  pose proof (not_zero _ _ Ph Zh) as Qh. pose proof (not_zero _ _ Px Zx) as Qx.
  assert (Sub : forall z, positive (sizes_at z target) -> positive (sizes_at z (rev digits))).
  { intros z Q. unfold positive, sizes_at in *. rewrite Forall_forall in *. intros n Hn. apply Q.
    apply in_map_iff in Hn.
    destruct Hn as (r & <- & Hr). apply in_map_iff. exists r. split; auto. apply Incl, in_rev, Hr. }
  assert (Pr : forall z, product (sizes_at z (rev digits)) = product (sizes_at z digits)).
  { intro z. rewrite sizes_rev. apply product_rev. }
  unfold view_axis in V. simpl in V. by_bind.
  pose proof (interval_nonempty h x (rev digits) (Sub h Qh) (Sub x Qx) (s_extent b) (s_lo b) (s_hi b)) as N.
  rewrite !Pr in N. specialize (N ltac:(lia) ltac:(lia) ltac:(lia) ltac:(lia) C3).
  pose proof (interval_masks_right h x (rev digits) (Sub x Qx) (s_extent b) (s_lo b) (s_hi b)) as R.
  rewrite Pr in R. specialize (R ltac:(lia)).
  eapply (ensures_weaken _ _ _ (digits_right x (rev digits) (s_lo b x) (s_hi b x))).
  { intro T. pose proof (N T) as L. cbv beta in L. apply R; auto; lia. }
  intros [ms|] D; by_ret; [|exact I]. destruct D as [P D]. rewrite sizes_rev, rev_involutive in P, D.
  rewrite <- masks_rev in P, D. split; [|split].
  - apply proper_length in P. unfold masks_at, sizes_at in P. rewrite !map_length in P. exact P.
  - clear -P. unfold proper in P. induction P; constructor; auto. simpl in *. lia.
  - intros y B. rewrite valid_iff. simpl. apply D, B.
Qed.

(* ---- all blocks *)

Lemma found_app r1 : forall r2 y1 y2, length r1 = length y1 ->
  (inside_found x (r1 ++ r2) (y1 ++ y2) <-> inside_found x r1 y1 /\ inside_found x r2 y2) /\
  found_value x (r1 ++ r2) (y1 ++ y2) = found_value x r1 y1 + found_value x r2 y2.
Proof.
  induction r1 as [|f r1 IH]; intros r2 [|j y1] y2 L; simpl in *; try discriminate; [split; [tauto | lia]|].
  destruct (IH r2 y1 y2 ltac:(congruence)) as [A ->]. rewrite A. split; [tauto | ring].
Qed.

Lemma found_of_within g : forall ms, length ms = length g -> length (found_of g ms) = length g /\
  forall y, inside_found x (found_of g ms) y <-> within (masks_at x ms) y.
Proof.
  induction g as [|[r t] g IH]; intros [|[p q] ms] L; simpl in L; try discriminate.
  { split; auto. intros [|? ?]; simpl; tauto. }
  destruct (IH ms ltac:(congruence)) as [E W]. split; [simpl; congruence|]. intros [|j y]; simpl; [tauto|].
  rewrite W. tauto.
Qed.

Definition within_size (f : found) (r : size) := 0 <= from f x /\ to f x <= r x.

Lemma found_of_bounds g : forall ms, length ms = length g ->
  Forall2 (fun p n => 0 <= fst p /\ snd p <= n) (masks_at x ms) (sizes_at x (map fst g)) ->
  Forall2 within_size (found_of g ms) (map fst g).
Proof.
  induction g as [|[r t] g IH]; intros [|[p q] ms] L F; simpl in *; try discriminate; constructor; inversion F; subst;
    auto.
Qed.

Theorem reshaping_right bs : Forall (certain h x) bs -> Forall view_axis (axes_at x bs) -> forall all target,
  sizes_positive h all -> sizes_positive x all -> incl target all ->
  ensures h x (reshaping all bs target) (fun r => match r with
    | None => True
    | Some r => Forall2 within_size r target /\
        forall y, box (sizes_at x target) y -> forall o,
          (inside_found x r y -> at_flat o (axes_at x bs) (ravel (sizes_at x target) y) = Some (o + found_value x r y))
            /\
          (~ inside_found x r y -> at_flat o (axes_at x bs) (ravel (sizes_at x target) y) = None)
    end).
Proof.
  induction bs as [|b bs IH]; intros C V all target Ph Px Incl; simpl reshaping.
  { by_ret. split.
    - clear. induction target; constructor; auto. unfold within_size, number. simpl. lia.
    - clear. induction target as [|r target IH]; intros [|j y] B o; simpl in *; try contradiction.
      + split; [intros _; f_equal; lia | tauto].
      + destruct B as [Hj B]. destruct (IH y B o) as [Y N]. unfold number. split.
        * intros [_ I]. rewrite (Y I). f_equal. 
        * intro X. apply N. tauto. }
  inversion C as [|? ? Cb Cl]; subst. inversion V as [|? ? Vb Vl]; subst. by_bind.
  apply (ensures_weaken _ _ _ _ _ (group_right target b (number 1))). intros [[g rest]|] G; [|by_ret; exact I].
  destruct G as (-> & Eh & Ex & Val). unfold number in Eh, Ex, Val. rewrite Z.mul_1_l in Eh, Ex. by_bind.
  pose proof (group_masks_right all b (map fst g)) as GM.
  specialize (GM ltac:(intros r Hr; apply Incl, in_or_app; auto) Ph Px Eh Ex Vb Cb).
  apply (ensures_weaken _ _ _ _ _ GM). clear GM. intros [ms|] M; [|by_ret; exact I]. destruct M as (L & F & W).
  rewrite map_length in L. by_bind.
  eapply ensures_weaken; [apply (IH Cl Vl all rest Ph Px); intros r Hr; apply Incl, in_or_app; auto|].
  intros [r|] R; by_ret; [|exact I]. destruct R as [Rb R]. destruct (found_of_within g ms L) as [Lf Wf]. split.
  { apply Forall2_app; auto. apply found_of_bounds; auto. }
  intros y B o. unfold sizes_at in B. rewrite map_app in B. destruct (box_split _ _ _ B) as (y1 & y2 & -> & B1 & B2).
  unfold sizes_at. rewrite map_app. fold (sizes_at x (map fst g)) (sizes_at x rest) in *.
  pose proof (box_length _ _ B1) as L1. rewrite ravel_app by exact L1. unfold sizes_at in L1. rewrite !map_length in L1.
  pose proof (ravel_range _ y1 B1) as H1. rewrite Ex in *.
  destruct (found_app (found_of g ms) r y1 y2 ltac:(congruence)) as [A D]. rewrite A, D, Wf, <- (W y1 B1).
  rewrite (Val ms y1) by congruence. rewrite Z.add_comm.
  pose proof (at_flat_digit o (axis_at x b) (axes_at x bs) (ravel (sizes_at x rest) y2) (ravel (sizes_at x (map fst g))
    y1)) as E.
  simpl in E. specialize (E H1). change (axes_at x (b :: bs)) with (axis_at x b :: axes_at x bs).
  change (at_flat o (axis_at x b :: axes_at x bs)) with (at_flat o (axis_at x b :: axes_at x bs)) in E.
  simpl at_flat. rewrite E. clear E. destruct (R y2 B2 o) as [Y N]. destruct (valid _ _).
  - split; intro X; [rewrite Y by tauto; simpl; f_equal; ring | rewrite N by tauto; reflexivity].
  - split; [intros [X _]; discriminate | reflexivity].
Qed.
End Run.
End Symbolic.
