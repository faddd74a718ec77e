(* Views whose numbers depend on symbols, and their canonical form.

   What: `canonical_form` is View::canonical in engine/view/canonical.cpp as a program. Where its trace holds, the view
         stays the same map (canonical_right).
   Why:  a merge and a reshape end with it. *)
Require Import ZArith Lia List Bool.
From Oriel Require Import mixed_radix masked_view canonicalize guards asking.
Import ListNotations.
Open Scope Z_scope.

Section Symbolic.
Context {assignment : Type}.
Notation program := (program assignment).
Notation size := (assignment -> Z).

Record saxis := SAxis { s_extent : size; s_stride : size; s_lo : size; s_hi : size }.
Record sview := SView { s_offset : size; s_axes : list saxis }.           (* innermost axis first *)

Definition axis_at (x : assignment) (a : saxis) := Axis (s_extent a x) (s_stride a x) (s_lo a x) (s_hi a x).
Definition axes_at (x : assignment) (l : list saxis) := map (axis_at x) l.
Definition view_at (x : assignment) (v : sview) (i : list Z) := at_index (s_offset v x) (axes_at x (s_axes v)) i.
Definition flat_at (x : assignment) (v : sview) (n : Z) := at_flat (s_offset v x) (axes_at x (s_axes v)) n.

Definition number (n : Z) : size := fun _ => n.
Definition is (n : size) (k : Z) : assignment -> bool := fun x => n x =? k.
Definition one_position (a : saxis) : assignment -> bool := fun x => s_hi a x - s_lo a x =? 1.
Definition unit_axis (a : saxis) : assignment -> bool := fun x => (s_extent a x =? 1) && one_position a x.
Definition full_axis (a : saxis) : assignment -> bool := fun x => full (axis_at x a).
Definition some_empty (l : list saxis) : assignment -> bool := fun x => existsb (fun a => s_extent a x =? 0) l.
Definition some_invalid (l : list saxis) : assignment -> bool := fun x => existsb (fun a => s_hi a x <=? s_lo a x) l.

Definition extentless (l : list saxis) :=
  SView (number 0) (map (fun a => SAxis (s_extent a) (number 0) (number 0) (s_extent a)) l).
Definition invalid (l : list saxis) :=
  SView (number 0) (map (fun a => SAxis (s_extent a) (number 0) (number 0) (number 0)) l).

(* ---- emptiness *)

Lemma some_empty_numel x l : some_empty l x = true -> numel (axes_at x l) = 0.
Proof.
  unfold some_empty. induction l as [|a l IH]; simpl; [discriminate|]. rewrite orb_true_iff, Z.eqb_eq.
  intros [->|H]; [reflexivity | rewrite (IH H); ring].
Qed.

Lemma some_empty_box x l i : some_empty l x = true -> ~ box (shape (axes_at x l)) i.
Proof.
  unfold some_empty. revert i. induction l as [|a l IH]; simpl; [discriminate|]. intros [|j i]; auto.
  rewrite orb_true_iff, Z.eqb_eq. intros [E|H] [Hj B]; [lia | apply (IH i H B)].
Qed.

Lemma some_invalid_flat x l o : some_invalid l x = true -> forall n, at_flat o (axes_at x l) n = None.
Proof.
  unfold some_invalid. induction l as [|a l IH]; simpl; [discriminate|]. rewrite orb_true_iff, Z.leb_le.
  intros [E|H] n.
  - rewrite valid_false; auto. simpl. lia.
  - rewrite (IH H). destruct (valid _ _); reflexivity.
Qed.

Lemma some_invalid_index x l o : some_invalid l x = true -> forall i, box (shape (axes_at x l)) i ->
  at_index o (axes_at x l) i = None.
Proof. intros H i B. rewrite at_index_flat by exact B. apply some_invalid_flat, H. Qed.

Lemma invalid_index x l i : l <> [] -> box (shape (axes_at x l)) i -> view_at x (invalid l) i = None.
Proof.
  destruct l as [|a l]; [congruence|]. intros _. destruct i as [|j i]; simpl; [contradiction|]. intros [Hj B].
  unfold view_at. simpl. rewrite valid_false; auto. simpl. unfold number. lia.
Qed.

Section Run.
Variable h : assignment.

(* ---- the canonical form *)

(* `known n k`: n is k for all values in range that satisfy the guards. *)
Variable known : size -> Z -> bool.

Fixpoint freed (o : size) (l : list saxis) : size * list saxis :=
  match l with
  | [] => (o, [])
  | a :: l => let (o', l') := freed o l in
    if known (fun x => s_hi a x - s_lo a x) 1
    then (fun x => o' x + s_stride a x * s_lo a x, SAxis (s_extent a) (number 0) (s_lo a) (s_hi a) :: l')
    else (o', a :: l')
  end.

Fixpoint all_full (l : list saxis) : program bool :=
  match l with
  | [] => Ret true
  | a :: l => bind (all_full l) (fun outside => if outside then given h (full_axis a) else Ret false)
  end.

Definition unmasked (l : list saxis) := map (fun a => SAxis (s_extent a) (s_stride a) (number 0) (s_extent a)) l.

Definition canonical_form (v : sview) : program sview :=
  bind (given h (some_empty (s_axes v))) (fun empty => if empty then Ret (extentless (s_axes v)) else
  bind (given h (some_invalid (s_axes v))) (fun none => if none then Ret (invalid (s_axes v)) else
  let (o, l) := freed (s_offset v) (s_axes v) in
  bind (all_full l) (fun all => Ret (SView o (if all then unmasked l else l))))).

Variable x : assignment.
Hypothesis known_right : forall n k, known n k = true -> n x = k.

(* v' has the shape of l and is `f` there *)
Definition is_map (l : list saxis) (f : list Z -> option Z) (v : sview) :=
  shape (axes_at x (s_axes v)) = shape (axes_at x l) /\ forall i, box (shape (axes_at x l)) i -> view_at x v i = f i.

Lemma at_index_plus l : forall o c i, at_index (o + c) l i = plus c (at_index o l i).
Proof.
  induction l as [|a l IH]; intros o c [|j i]; simpl; try (f_equal; ring).
  rewrite IH. destruct (valid a j), (at_index o l i); simpl; auto. f_equal. ring.
Qed.

Lemma freed_right l o : shape (axes_at x (snd (freed o l))) = shape (axes_at x l) /\
  forall i, length i = length l -> at_index (fst (freed o l) x) (axes_at x (snd (freed o l))) i = at_index (o x)
    (axes_at x l) i.
Proof.
  induction l as [|a l [S M]]; simpl; auto. destruct (freed o l) as [o' l']. simpl in S, M.
  destruct (known _ 1) eqn:K; simpl; (split; [f_equal; exact S|]); intros [|j i] L; simpl in L; try discriminate.
  - apply known_right in K. unfold number. rewrite at_index_plus, M by congruence.
    change (valid (Axis _ 0 _ _) j) with (valid (axis_at x a) j). destruct (valid _ j) eqn:V; auto.
    apply valid_iff in V.
    simpl in V. rewrite plus_plus. f_equal. replace j with (s_lo a x) by lia. ring.
  - rewrite M by congruence. reflexivity.
Qed.

Lemma all_full_right l : ensures h x (all_full l) (fun all => all = true -> Forall (fun a => full_axis a x = true) l).
Proof.
  induction l as [|a l IH]; simpl; [by_ret; constructor|]. by_bind. apply (ensures_weaken _ _ _ _ _ IH).
  intros [] F; [|by_ret; discriminate]. apply ensures_given; intros; [constructor; auto | discriminate].
Qed.

Lemma unmasked_right l : Forall (fun a => full_axis a x = true) l ->
  shape (axes_at x (unmasked l)) = shape (axes_at x l) /\
  forall o i, at_index o (axes_at x (unmasked l)) i = at_index o (axes_at x l) i.
Proof.
  induction 1 as [|a l F _ [S M]]; simpl; auto. split; [f_equal; exact S|]. intros o [|j i]; auto. rewrite M.
  unfold full_axis, full in F. rewrite andb_true_iff, !Z.eqb_eq in F. simpl in F. destruct F as [L H].
  unfold valid. simpl. rewrite L, H. reflexivity.
Qed.

Lemma extent_shape l (f : saxis -> saxis) : (forall a, s_extent (f a) = s_extent a) ->
  shape (axes_at x (map f l)) = shape (axes_at x l).
Proof. intro H. unfold shape, axes_at. rewrite !map_map. apply map_ext. intro a. simpl. rewrite H. reflexivity. Qed.

Lemma box_axes l i : box (shape (axes_at x l)) i -> length i = length l.
Proof. intro B. apply box_length in B. unfold shape, axes_at in B. rewrite !map_length in B. exact B. Qed.

Theorem canonical_right v : ensures h x (canonical_form v) (is_map (s_axes v) (view_at x v)).
Proof.
  unfold canonical_form. by_given.
  { by_ret. split; [apply extent_shape; auto|]. intros i B. destruct (some_empty_box x (s_axes v) i); assumption. }
  by_given.
  { by_ret. split; [apply extent_shape; auto|]. intros i B. unfold view_at at 2.
    rewrite some_invalid_index by assumption. apply invalid_index; auto.
    intro E. rewrite E in *. discriminate. }
  pose proof (freed_right (s_axes v) (s_offset v)) as [S M]. destruct (freed _ _) as [o l]. simpl in S, M.
  by_bind. apply (ensures_weaken _ _ _ _ _ (all_full_right l)). intros all F. by_ret.
  unfold is_map, view_at. simpl. destruct all.
  - destruct (unmasked_right l (F eq_refl)) as [S' M']. split; [congruence|]. intros i B.
    rewrite M'. apply M, box_axes, B.
  - split; auto. intros i B. apply M, box_axes, B.
Qed.
End Run.
End Symbolic.
