(* The blocks of a symbolic view, and what is asked to find them.

   What: `blocks_of` is the fold of canonicalize.v as a program (split_blocks in engine/view/canonical.cpp). Where its
         trace holds, the blocks are the same map of the flat index (blocks_right). What the hints say of the positions
         of a block is known of it there, as far as masks need it (blocks_certain).
   Why:  a merge and a reshape begin with it. *)
Require Import ZArith Lia List Bool.
From Oriel Require Import mixed_radix masked_view canonical_unique canonicalize guards asking symbolic_view.
Import ListNotations.
Open Scope Z_scope.

Section Symbolic.
Context {assignment : Type}.
Notation program := (program assignment).
Notation size := (assignment -> Z).
Notation saxis := (@saxis assignment).
Notation sview := (@sview assignment).

Lemma positive_axes l : Forall view_axis l -> 1 <= masked_view.numel l -> Forall sized l.
Proof.
  induction 1 as [|a l H Hl IH]; simpl; intro N; constructor; unfold sized, view_axis in *.
  - split; auto. destruct (Z.eq_dec (extent a) 0) as [E|E]; [rewrite E in N|]; lia.
  - apply IH. enough (0 <= masked_view.numel l) by nia.
    clear -Hl. induction Hl as [|b l [A B] _ IH]; simpl; [lia|]. nia.
Qed.

Section Run.
Variable h : assignment.

Definition s_joined_full (b a : saxis) := SAxis (fun x => s_extent b x * s_extent a x) (s_stride b)
  (fun x => s_lo a x * s_extent b x) (fun x => s_hi a x * s_extent b x).
Definition s_joined_fixed (b a : saxis) := SAxis (fun x => s_extent b x * s_extent a x) (s_stride b)
  (fun x => s_lo a x * s_extent b x + s_lo b x) (fun x => s_lo a x * s_extent b x + s_hi b x).
Definition continues (b a : saxis) : assignment -> bool :=
  fun x => full (axis_at x b) && (s_stride a x =? s_extent b x * s_stride b x).

Fixpoint join_of (o : size) (b : saxis) (l : list saxis) : program (size * list saxis) :=
  match l with
  | [] => Ret (o, [b])
  | a :: l =>
    bind (given h (unit_axis a)) (fun unit => if unit then join_of o b l else
    bind (given h (one_position a)) (fun fixed => if fixed
      then join_of (fun x => o x + (s_stride a x - s_extent b x * s_stride b x) * s_lo a x) (s_joined_fixed b a) l else
    bind (given h (continues b a)) (fun joins => if joins then join_of o (s_joined_full b a) l else
    bind (join_of o a l) (fun r => Ret (fst r, b :: snd r)))))
  end.

Fixpoint fold_blocks (o : size) (l : list saxis) : program (size * list saxis) :=
  match l with
  | [] => Ret (o, [])
  | a :: l =>
    bind (given h (unit_axis a)) (fun unit => if unit then fold_blocks o l else
    bind (given h (one_position a)) (fun fixed => if fixed
      then join_of (fun x => o x + s_stride a x * s_lo a x) (SAxis (s_extent a) (number 0) (s_lo a) (s_hi a)) l else
    join_of o a l))
  end.

(* None: no index is valid. *)
Definition blocks_of (v : sview) : program (option sview) :=
  bind (given h (some_empty (s_axes v))) (fun empty => if empty then Ret None else
  bind (given h (some_invalid (s_axes v))) (fun invalid => if invalid then Ret None else
  bind (fold_blocks (s_offset v) (s_axes v)) (fun r => Ret (Some (SView (fst r) (snd r)))))).

Variable x : assignment.

Lemma at_flat_cons o a l n : at_flat o (a :: l) n =
  if valid a (n mod extent a) then plus (stride a * (n mod extent a)) (at_flat o l (n / extent a)) else None.
Proof. reflexivity. Qed.

(* (o', l') is another form of (o, l) at x *)
Definition form_of (o : size) (l : list saxis) (r : size * list saxis) :=
  Forall view_axis (axes_at x (snd r)) /\ numel (axes_at x (snd r)) = numel (axes_at x l) /\
  (Forall sized (axes_at x l) -> forall n, 0 <= n < numel (axes_at x l) ->
     at_flat (o x) (axes_at x l) n = at_flat (fst r x) (axes_at x (snd r)) n).

Lemma form_of_cons o b l r : view_axis (axis_at x b) -> form_of o l r -> form_of o (b :: l) (fst r, b :: snd r).
Proof.
  intros Hb (V & N & M). split; [constructor; auto|]. split; [simpl; rewrite N; auto|].
  intros S n Hn. inversion S as [|? ? Sb Sl]; subst. simpl in *. destruct Sb as [Sb _]. simpl in Sb.
  rewrite <- (M Sl); auto. split; [apply Z.div_pos; lia | apply Z.div_lt_upper_bound; lia].
Qed.

(* a join at the bottom of the list *)
Lemma form_of_join o b a l o' c r :
  (sized (axis_at x b) -> sized (axis_at x a) -> forall n,
    at_flat (o x) (axes_at x (b :: a :: l)) n = at_flat (o' x) (axes_at x (c :: l)) n) ->
  s_extent c x = s_extent b x * s_extent a x -> (sized (axis_at x b) -> sized (axis_at x a) -> sized (axis_at x c)) ->
  form_of o' (c :: l) r -> form_of o (b :: a :: l) r.
Proof.
  intros H E C (V & N & M). split; auto.
  assert (E' : numel (axes_at x (c :: l)) = numel (axes_at x (b :: a :: l))) by (simpl; rewrite E; ring).
  split; [congruence|]. intros S n Hn. inversion S as [|? ? Sb S']; subst. inversion S' as [|? ? Sa Sl]; subst.
  rewrite H by auto. apply M; [constructor; auto | rewrite E'; exact Hn].
Qed.

Lemma unit_dropped a : view_axis (axis_at x a) -> unit_axis a x = true ->
  s_extent a x = 1 /\ forall o l n, at_flat o (axis_at x a :: l) n = at_flat o l n.
Proof.
  unfold unit_axis, one_position, view_axis. rewrite andb_true_iff, !Z.eqb_eq. simpl. intros W [U F]. split; auto.
  intros. apply (drop_unit o (axis_at x a)); [unfold ok; simpl; lia | exact U].
Qed.

Lemma form_of_unit o b a l r : view_axis (axis_at x a) -> unit_axis a x = true ->
  form_of o (b :: l) r -> form_of o (b :: a :: l) r.
Proof.
  intros W H (V & N & M). destruct (unit_dropped a W H) as [U D]. split; auto.
  assert (E : numel (axes_at x (b :: l)) = numel (axes_at x (b :: a :: l))) by (simpl; rewrite U; ring).
  split; [congruence|]. intros S n Hn. inversion S as [|? ? Sb S']; subst. inversion S' as [|? ? Sa Sl]; subst.
  rewrite <- M; [|constructor; auto | rewrite E; exact Hn]. cbn [axes_at map].
  rewrite !(at_flat_cons (o x) (axis_at x b)), D. reflexivity.
Qed.

Lemma form_of_first_unit o a l r : view_axis (axis_at x a) -> unit_axis a x = true -> form_of o l r ->
  form_of o (a :: l) r.
Proof.
  intros W H (V & N & M). destruct (unit_dropped a W H) as [U D]. split; auto.
  assert (E : numel (axes_at x l) = numel (axes_at x (a :: l))) by (simpl; rewrite U; ring).
  split; [congruence|]. intros S n Hn. inversion S; subst. cbn [axes_at map]. rewrite D.
  apply M; auto. rewrite E. exact Hn.
Qed.

Lemma joined_full_view b a : view_axis b -> view_axis a -> view_axis (joined_full b a).
Proof. unfold view_axis. simpl. nia. Qed.

Lemma joined_fixed_view b a : view_axis b -> view_axis a -> range a = 1 -> view_axis (joined_fixed b a).
Proof. unfold view_axis, range. simpl. nia. Qed.

Lemma joins b a : continues b a x = true ->
  lo (axis_at x b) = 0 /\ hi (axis_at x b) = extent (axis_at x b) /\
  stride (axis_at x a) = extent (axis_at x b) * stride (axis_at x b).
Proof. unfold continues, full. rewrite !andb_true_iff, !Z.eqb_eq. simpl. tauto. Qed.

Lemma join_of_right l : Forall view_axis (axes_at x l) -> forall o b, view_axis (axis_at x b) ->
  ensures h x (join_of o b l) (form_of o (b :: l)).
Proof.
  induction l as [|a l IH]; intros V o b Vb; simpl join_of.
  { by_ret. split; [constructor; auto | split; auto]. }
  inversion V as [|? ? Va Vl]; subst. specialize (IH Vl). by_given.
  { apply (ensures_weaken _ _ _ _ _ (IH o b Vb)). intros r R. apply form_of_unit; auto. }
  by_given.
  { unfold one_position in *. rewrite Z.eqb_eq in *.
    pose proof (joined_fixed_view (axis_at x b) (axis_at x a) Vb Va) as J. unfold range in J. simpl in J.
    apply (ensures_weaken _ _ _ _ _ (IH _ (s_joined_fixed b a) (J ltac:(assumption)))). intros r R.
    apply (form_of_join o b a l _ (s_joined_fixed b a)) with (4 := R); auto.
    - intros Sb Sa n. apply (join_fixed (o x) (axis_at x b) (axis_at x a)); auto.
    - intros [Sb _] [Sa _]. split; [simpl in *; nia | apply J; assumption]. }
  by_given.
  { pose proof (joins b a ltac:(assumption)) as (F0 & F1 & T).
    pose proof (joined_full_view (axis_at x b) (axis_at x a) Vb Va) as J.
    apply (ensures_weaken _ _ _ _ _ (IH o (s_joined_full b a) J)). intros r R.
    apply (form_of_join o b a l _ (s_joined_full b a)) with (4 := R); auto.
    - intros Sb Sa n. apply (join_full (o x) (axis_at x b) (axis_at x a)); auto.
    - intros [Sb _] [Sa _]. split; [simpl in *; nia | exact J]. }
  by_bind. apply (ensures_weaken _ _ _ _ _ (IH o a Va)). intros r R. by_ret. apply form_of_cons; auto.
Qed.

Lemma fold_blocks_right l : Forall view_axis (axes_at x l) -> forall o, ensures h x (fold_blocks o l) (form_of o l).
Proof.
  induction l as [|a l IH]; intros V o; simpl fold_blocks.
  { by_ret. repeat split; auto. }
  inversion V as [|? ? Va Vl]; subst. by_given.
  { apply (ensures_weaken _ _ _ _ _ (IH Vl o)). intros r R. apply form_of_first_unit; auto. }
  by_given.
  { unfold one_position in *. rewrite Z.eqb_eq in *.
    set (b := SAxis (s_extent a) (number 0) (s_lo a) (s_hi a)).
    apply (ensures_weaken _ _ _ _ _ (join_of_right l Vl (fun x => o x + s_stride a x * s_lo a x) b Va)).
    intros r (W & N & M). split; auto. split; [exact N|]. intros S n Hn.
    etransitivity; [apply (forget_stride (o x) (axis_at x a)); unfold range; simpl; assumption|].
    apply M; [inversion S; constructor; auto | exact Hn]. }
  apply join_of_right; auto.
Qed.

(* The blocks are the view, if an index is there at all. *)
Theorem blocks_right v : Forall view_axis (axes_at x (s_axes v)) ->
  ensures h x (blocks_of v) (fun r => match r with
    | None => forall n, 0 <= n < numel (axes_at x (s_axes v)) -> flat_at x v n = None
    | Some b => Forall view_axis (axes_at x (s_axes b)) /\
      numel (axes_at x (s_axes b)) = numel (axes_at x (s_axes v)) /\
        forall n, 0 <= n < numel (axes_at x (s_axes v)) -> flat_at x v n = flat_at x b n
    end).
Proof.
  intro V. unfold blocks_of. by_given.
  { by_ret. intros n Hn. rewrite (some_empty_numel x (s_axes v)) in Hn by assumption. lia. }
  by_given.
  { by_ret. intros n _. apply some_invalid_flat. assumption. }
  by_bind. apply (ensures_weaken _ _ _ _ _ (fold_blocks_right _ V (s_offset v))). intros r (W & N & M). by_ret.
  split; auto. split; auto. intros n Hn. apply M; auto. apply positive_axes; auto. lia.
Qed.

(* What is certain of a block: it has positions for the hints, and one there means one at x. *)
Definition alive (a : saxis) := 0 <= s_lo a h < s_hi a h /\ s_hi a h <= s_extent a h.
Definition certain (b : saxis) := alive b /\ (s_hi b h - s_lo b h = 1 -> s_hi b x - s_lo b x = 1).

Lemma join_of_certain l : Forall alive l -> forall o b, certain b ->
  ensures h x (join_of o b l) (fun r => Forall certain (snd r)).
Proof.
  induction 1 as [|a l Ha Hl IH]; intros o b Hb; simpl join_of; [by_ret; constructor; auto|].
  unfold certain, alive in *. by_given; [apply IH; auto|]. by_given; unfold one_position in *.
  - rewrite Z.eqb_eq in *. apply IH. simpl. nia.
  - rewrite Z.eqb_neq in *. by_given; [apply IH; simpl; nia|]. by_bind.
    apply (ensures_weaken _ _ _ _ _ (IH o a ltac:(lia))). intros r R. by_ret. constructor; auto.
Qed.

Lemma fold_blocks_certain l : Forall alive l -> forall o, ensures h x (fold_blocks o l) (fun r => Forall certain (snd
  r)).
Proof.
  induction 1 as [|a l Ha Hl IH]; intro o; simpl fold_blocks; [by_ret; constructor|].
  by_given; [apply IH|]. by_given; apply join_of_certain; auto; unfold certain, one_position in *; simpl;
    rewrite ?Z.eqb_eq, ?Z.eqb_neq in *; (split; [exact Ha | lia]).
Qed.

Lemma blocks_certain v : Forall view_axis (axes_at h (s_axes v)) ->
  ensures h x (blocks_of v) (fun r => match r with None => True | Some b => Forall certain (s_axes b) end).
Proof.
  intro V. unfold blocks_of. by_given; [by_ret; exact I|]. by_given; [by_ret; exact I|]. by_bind.
  eapply ensures_weaken; [apply fold_blocks_certain | intros r R; by_ret; exact R].
  match goal with H : some_invalid _ _ = false |- _ => revert H end. clear -V. revert V. unfold some_invalid.
  induction (s_axes v) as [|a l IH]; simpl; intros V E; constructor; inversion V as [|? ? Va Vl]; subst;
    rewrite orb_false_iff, Z.leb_gt in E; [unfold alive, view_axis in *; simpl in Va; lia | apply IH; tauto].
Qed.

End Run.
End Symbolic.
