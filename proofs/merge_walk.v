(* The outer view of a merge as a walk with positive steps, and the way back to a view.

   What: `walk_of` crops the outer view to its mask, turns reversed axes around and keeps the axes that move, and
         `placed` makes a view of what was found for each of them (engine/view/merging/outer_walk.hpp). Where the trace
         holds, the outer view is the walk (walk_right); the placed view is the affine map on the box that was found,
         and invalid elsewhere (placed_inside, placed_outside).
   Why:  the two ways to merge work on the walk alone. *)
Require Import ZArith Lia List Bool.
From Oriel Require Import mixed_radix masked_view affine guards asking symbolic_view.
Import ListNotations.
Open Scope Z_scope.

Section Symbolic.
Context {assignment : Type}.
Notation program := (program assignment).
Notation size := (assignment -> Z).
Notation saxis := (@saxis assignment).

(* An axis that moves: is the outer stride positive; the step; the positions [start, start + width) *)
Record mover := Mover { upwards : bool; step : size; width : size; start : size }.

(* What was found for it: a slope and a range of positions. *)
Record found := Found { slope : size; from : size; to : size }.

Section Run.
Variable h : assignment.

(* The outer axes come first, as in the C++. None: the axis does not move. *)
Fixpoint walk_of (o : size) (l : list saxis) : program (size * list (option mover)) :=
  match l with
  | [] => Ret (o, [])
  | a :: l => bind (walk_of o l) (fun r =>
      Ask (is (s_stride a) 0) (fun still => if still then Ret (fst r, None :: snd r) else
      Ask (fun x => 0 <? s_stride a x) (fun up =>
      let base := fun x => fst r x + s_stride a x * (if up then s_lo a x else s_hi a x - 1) in
      bind (given h (one_position a)) (fun fixed => Ret (base, (if fixed then None else
        Some (Mover up (fun x => if up then s_stride a x else - s_stride a x) (fun x => s_hi a x - s_lo a x) (number
          0)))
        :: snd r)))))
  end.

Fixpoint movers (w : list (option mover)) : list mover :=
  match w with
  | [] => []
  | Some m :: w => m :: movers w
  | None :: w => movers w
  end.

Fixpoint placed (l : list saxis) (w : list (option mover)) (r : list found) : size * list saxis :=
  match l, w, r with
  | a :: l, Some m :: w, f :: r =>
    let (o, v) := placed l w r in
    if upwards m
    then (fun x => o x - slope f x * s_lo a x,
          SAxis (s_extent a) (slope f) (fun x => s_lo a x + from f x) (fun x => s_lo a x + to f x) :: v)
    else (fun x => o x + slope f x * (s_hi a x - 1),
          SAxis (s_extent a) (fun x => - slope f x) (fun x => s_hi a x - to f x) (fun x => s_hi a x - from f x) :: v)
  | a :: l, None :: w, r => let (o, v) := placed l w r in (o, SAxis (s_extent a) (number 0) (s_lo a) (s_hi a) :: v)
  | _, _, _ => (number 0, [])
  end.

(* ---- at one assignment *)

Variable x : assignment.

(* an index in walk coordinates *)
Fixpoint coordinates (l : list saxis) (w : list (option mover)) (i : list Z) : list Z :=
  match l, w, i with
  | a :: l, Some m :: w, j :: i => (if upwards m then j - s_lo a x else s_hi a x - 1 - j) :: coordinates l w i
  | _ :: l, None :: w, _ :: i => coordinates l w i
  | _, _, _ => []
  end.

Fixpoint inside (l : list mover) (y : list Z) : Prop :=
  match l, y with
  | [], [] => True
  | m :: l, j :: y => start m x <= j < start m x + width m x /\ inside l y
  | _, _ => False
  end.
Fixpoint walked (l : list mover) (y : list Z) : Z :=
  match l, y with
  | m :: l, j :: y => step m x * (j - start m x) + walked l y
  | _, _ => 0
  end.
Lemma inside_length l : forall y, inside l y -> length y = length l.
Proof. induction l as [|m l IH]; intros [|j y] I; simpl in *; try contradiction; auto. f_equal. apply IH, I. Qed.

Fixpoint inside_found (r : list found) (y : list Z) : Prop :=
  match r, y with
  | [], [] => True
  | f :: r, j :: y => from f x <= j < to f x /\ inside_found r y
  | _, _ => False
  end.
Fixpoint found_value (r : list found) (y : list Z) : Z :=
  match r, y with
  | f :: r, j :: y => slope f x * j + found_value r y
  | _, _ => 0
  end.

(* w is the walk over l from `base` on *)
Definition walk_over (o : size) (l : list saxis) (base : size) (w : list (option mover)) :=
  length w = length l /\ Forall (fun m => start m x = 0) (movers w) /\
  (Forall view_axis (axes_at x l) -> Forall (fun m => 0 <= width m x) (movers w)) /\
  forall i v, length i = length l -> at_index (o x) (axes_at x l) i = Some v ->
    v = base x + walked (movers w) (coordinates l w i) /\ inside (movers w) (coordinates l w i).

Theorem walk_right o l : ensures h x (walk_of o l) (fun r => walk_over o l (fst r) (snd r)).
Proof.
  induction l as [|a l IH]; simpl walk_of.
  { by_ret. split; [reflexivity|]. split; [constructor|]. split; [constructor|].
    intros [|j i] v L H; [|discriminate]. simpl in *. injection H. split; auto. lia. }
  by_bind. apply (ensures_weaken _ _ _ _ _ IH). intros [base w] (L & S & P & W). simpl fst in *. simpl snd in *.
  assert (Inv : forall i v, length i = length (a :: l) -> at_index (o x) (axes_at x (a :: l)) i = Some v ->
    exists j i' v', i = j :: i' /\ length i' = length l /\ s_lo a x <= j < s_hi a x /\ v = s_stride a x * j + v' /\
      v' = base x + walked (movers w) (coordinates l w i') /\ inside (movers w) (coordinates l w i')).
  { intros [|j i] v E H; simpl in E; [discriminate|]. simpl in H. destruct (valid _ j) eqn:V; [|discriminate].
    apply valid_iff in V. destruct (at_index _ _ i) as [v'|] eqn:H'; [|discriminate]. injection H as <-.
    exists j, i, v'. destruct (W i v' ltac:(congruence) H') as [W1 W2]. repeat split; auto; try congruence; apply V. }
  unfold is. by_ask still; [by_ret|].
  { split; [simpl; congruence|]. split; [exact S|]. split; [intro V; inversion V; auto|].
    intros i v E H'. destruct (Inv i v E H') as (j & i' & v' & -> & _ & Hj & -> & -> & I). simpl.
    apply Z.eqb_eq in H0. split; auto. rewrite H0. lia. }
  apply ensures_ask; intros up _ Up. by_given; by_ret; unfold one_position in *.
  - split; [simpl; congruence|]. split; [exact S|]. split; [intro V; inversion V; auto|].
    intros i v E H'. destruct (Inv i v E H') as (j & i' & v' & -> & _ & Hj & -> & -> & I).
    match goal with H : (_ - _ =? 1) = true |- _ => apply Z.eqb_eq in H end.
    simpl. split; auto. replace j with (s_lo a x) by lia. destruct up; [lia|].
    replace (s_hi a x - 1) with (s_lo a x) by lia. lia.
  - split; [simpl; congruence|]. split; [constructor; auto|]. split.
    { intro V; inversion V as [|? ? Va Vl]; subst. constructor; auto. unfold view_axis in Va. simpl in *. lia. }
    intros i v E H'. destruct (Inv i v E H') as (j & i' & v' & -> & _ & Hj & -> & -> & I).
    simpl. unfold number. split; [|split; auto; destruct up; lia]. destruct up; ring.
Qed.

Lemma placed_shape l : forall w r, length w = length l -> length r = length (movers w) ->
  shape (axes_at x (snd (placed l w r))) = shape (axes_at x l).
Proof.
  induction l as [|a l IH]; intros [|[m|] w] r L K; simpl in L; try discriminate; auto.
  - destruct r as [|f r]; [discriminate|]. simpl in *. specialize (IH w r ltac:(congruence) ltac:(congruence)).
    destruct (placed l w r). simpl in *. destruct (upwards m); simpl; congruence.
  - simpl in *. specialize (IH w r ltac:(congruence) K). destruct (placed l w r). simpl in *. congruence.
Qed.

(* inside the outer mask, the placed view is the map that was found *)
Lemma placed_inside l : forall w r i c o v, length w = length l -> length r = length (movers w) ->
  length i = length l -> at_index o (axes_at x l) i = Some v ->
  let y := coordinates l w i in
  (inside_found r y -> at_index (c + fst (placed l w r) x) (axes_at x (snd (placed l w r))) i = Some (c + found_value r
    y)) /\
  (~ inside_found r y -> at_index (c + fst (placed l w r) x) (axes_at x (snd (placed l w r))) i = None).
Proof.
  induction l as [|a l IH]; intros [|[m|] w] r [|j i] c o v Lw Lr Li H; simpl in Lw, Li; try discriminate.
  - destruct r; [|discriminate]. simpl. split; [intros _; unfold number; f_equal; ring | tauto].
  - destruct r as [|f r]; [discriminate|]. simpl in H. destruct (valid _ j) eqn:V; [|discriminate].
    destruct (at_index o (axes_at x l) i) as [v'|] eqn:H'; [|discriminate]. apply valid_iff in V. simpl in V.
    specialize (fun c => IH w r i c o v' ltac:(congruence) ltac:(simpl in Lr; congruence) ltac:(congruence) H').
    simpl placed. destruct (placed l w r) as [po pv]. simpl fst in *. simpl snd in *.
    cbn [coordinates inside_found found_value].
    cbv zeta in IH. set (y := coordinates l w i) in *. destruct (upwards m); cbn [fst snd axes_at map at_index].
    + replace (c + (po x - slope f x * s_lo a x)) with (c - slope f x * s_lo a x + po x) by ring.
      destruct (IH (c - slope f x * s_lo a x)) as [Y N]. unfold axes_at in *. simpl. split.
      * intros [Hf Hr]. rewrite valid_true by (simpl; lia). rewrite (Y Hr). simpl. f_equal. ring.
      * intro X. destruct (valid _ j) eqn:V'; auto. apply valid_iff in V'. simpl in V'. rewrite N; auto.
        intro Hr. apply X. split; auto. lia.
    + replace (c + (po x + slope f x * (s_hi a x - 1))) with (c + slope f x * (s_hi a x - 1) + po x) by ring.
      destruct (IH (c + slope f x * (s_hi a x - 1))) as [Y N]. unfold axes_at in *. simpl. split.
      * intros [Hf Hr]. rewrite valid_true by (simpl; lia). rewrite (Y Hr). simpl. f_equal. ring.
      * intro X. destruct (valid _ j) eqn:V'; auto. apply valid_iff in V'. simpl in V'. rewrite N; auto.
        intro Hr. apply X. split; auto. lia.
  - simpl in H. destruct (valid _ j) eqn:V; [|discriminate].
    destruct (at_index o (axes_at x l) i) as [v'|] eqn:H'; [|discriminate].
    specialize (IH w r i c o v' ltac:(congruence) Lr ltac:(congruence) H').
    simpl placed. destruct (placed l w r) as [po pv]. simpl fst in *. simpl snd in *. cbn [coordinates].
    cbv zeta in IH. cbn [axes_at map at_index]. unfold axes_at in *.
    change (valid (axis_at x (SAxis _ _ _ _)) j) with (valid (axis_at x a) j). rewrite V.
    destruct IH as [Y N]. split; intro X; [rewrite (Y X) | rewrite (N X)]; reflexivity.
Qed.

(* outside of it, it is invalid *)
Definition within_walk (f : found) (m : mover) := 0 <= from f x /\ to f x <= width m x.

(* the movers of w are as wide as the ranges of l *)
Fixpoint ranges_of (l : list saxis) (w : list (option mover)) : Prop :=
  match l, w with
  | a :: l, Some m :: w => width m x = s_hi a x - s_lo a x /\ ranges_of l w
  | _ :: l, None :: w => ranges_of l w
  | _, _ => True
  end.

Lemma walk_ranges o l : ensures h x (walk_of o l) (fun r => ranges_of l (snd r)).
Proof.
  induction l as [|a l IH]; simpl walk_of; [by_ret; exact I|]. by_bind. apply (ensures_weaken _ _ _ _ _ IH).
  intros [base w] R. simpl in R. by_ask still; [by_ret; exact R|]. by_ask up; by_given; by_ret; simpl; auto.
Qed.

Lemma placed_outside l : forall w r i c o, length w = length l -> length i = length l -> ranges_of l w ->
  Forall2 within_walk r (movers w) -> at_index o (axes_at x l) i = None ->
  at_index c (axes_at x (snd (placed l w r))) i = None.
Proof.
  induction l as [|a l IH]; intros [|[m|] w] r [|j i] c o Lw Li R F H; simpl in Lw, Li; try discriminate.
  - inversion F as [|f ? r' ? Ff Fr]; subst. simpl in R, H. destruct R as [Rm R].
    unfold within_walk in Ff.
    specialize (fun c => IH w r' i c o ltac:(congruence) ltac:(congruence) R Fr).
    simpl placed. destruct (placed l w r') as [po pv]. simpl snd in *.
    destruct (valid (axis_at x a) j) eqn:V.
    + destruct (at_index o (axes_at x l) i) eqn:H'; [discriminate|].
      destruct (upwards m); cbn [snd axes_at map at_index]; unfold axes_at in *; rewrite IH by auto;
        match goal with |- context [valid ?b j] => destruct (valid b j) end; reflexivity.
    + assert (V' : ~ (s_lo a x <= j < s_hi a x)) by (intro X; rewrite valid_true in V; auto; discriminate).
      destruct (upwards m); cbn [snd axes_at map at_index]; rewrite valid_false by (simpl; lia); reflexivity.
  - simpl in R, F, H. specialize (fun c => IH w r i c o ltac:(congruence) ltac:(congruence) R F).
    simpl placed. destruct (placed l w r) as [po pv]. simpl snd in *. cbn [axes_at map at_index]. unfold axes_at in *.
    change (valid (axis_at x (SAxis _ _ _ _)) j) with (valid (axis_at x a) j).
    destruct (valid (axis_at x a) j); auto. destruct (at_index o _ i); [discriminate|]. rewrite IH; auto.
Qed.
End Run.
End Symbolic.
