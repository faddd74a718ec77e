(* A reshape of a symbolic view as a program: where the trace holds, the view is the reshape.

   What: `reshaped` is View::reshape in engine/view/view.cpp, after the element counts were compared. None: no one view
         has this shape. reshape_trace_implies and reshape_trace_same say of it what merge_guards.v says of a merge.
   Why:  as there; most merges are merges of a reshape. *)
Require Import ZArith Lia List Bool.
From Oriel Require Import mixed_radix masked_view canonical_unique canonicalize guards asking.
From Oriel Require Import symbolic_view symbolic_blocks symbolic_interval symbolic_reshape merge_walk merge_order.
From Oriel Require Import merge_paths merge_guards.
Import ListNotations.
Open Scope Z_scope.

Section Symbolic.
Context {assignment : Type}.
Notation program := (program assignment).
Notation size := (assignment -> Z).
Notation saxis := (@saxis assignment).
Notation sview := (@sview assignment).
Notation mover := (@mover assignment).
Notation found := (@found assignment).

(* `known n k`: n is k for all values in range that satisfy the guards. It chooses forms and records nothing. *)
Variable known : size -> Z -> bool.

Section Run.
Variable h : assignment.

(* ---- a reshape of a view; the element counts were compared before *)

Definition reshaped_axes (target : list size) (r : list found) : list saxis :=
  map (fun p => SAxis (fst p) (slope (snd p)) (from (snd p)) (to (snd p))) (combine target r).
Definition bare (target : list size) : list saxis := map (fun r => SAxis r (number 0) (number 0) r) target.

Definition reshaped (v : sview) (target : list size) : program (option sview) :=
  bind (given h (some_empty (bare target))) (fun empty => if empty then Ret (Some (extentless (bare target))) else
  bind (blocks_of h v) (fun b => match b with
  | None => Ret (merged_invalid (bare target))
  | Some b => bind (reshaping h target (s_axes b) target) (fun r => match r with
    | None => Ret None
    | Some r => some_view known h (SView (s_offset b) (reshaped_axes target r))
    end)
  end)).

Variable x : assignment.
Hypothesis known_right : forall n k, known n k = true -> n x = k.

Definition read_as (v : sview) (target : list size) (i : list Z) : option Z :=
  flat_at x v (ravel (sizes_at x target) i).

Lemma bare_shape z target : shape (axes_at z (bare target)) = sizes_at z target.
Proof. unfold bare, axes_at, shape, sizes_at. rewrite !map_map. reflexivity. Qed.

Theorem reshaped_right v target : Forall view_axis (axes_at x (s_axes v)) -> Forall view_axis (axes_at h (s_axes v)) ->
  sizes_positive x target -> sizes_positive h target -> product (sizes_at x target) = numel (axes_at x (s_axes v)) ->
  ensures h x (reshaped v target) (answers x (bare target) (fun _ => True) (read_as v target)).
Proof.
  intros V Vh Px Ph N. unfold reshaped. by_given.
  { by_ret. split; [apply extent_shape; auto|]. intros i B. destruct (some_empty_box x (bare target) i); assumption. }
  by_bind. apply (ensures_weaken _ _ _ _ _ (ensures_both _ _ _ _ _ (blocks_right h x v V) (blocks_certain h x v Vh))).
  intros [b|] [Bl C]; [|by_ret].
  2: { apply (merged_invalid_right x). intros i B _. rewrite bare_shape in B. apply Bl. rewrite <- N.
  apply ravel_range, B. }
  destruct Bl as (Vb & Nb & Blocks). by_bind.
  apply (ensures_weaken _ _ _ _ _ (reshaping_right h x _ C Vb target target Ph Px (incl_refl _))).
  intros [r|] G; [|by_ret; exact I]. destruct G as [F G].
  assert (S : shape (axes_at x (reshaped_axes target r)) = sizes_at x target).
  { clear -F. unfold shape, axes_at, reshaped_axes, sizes_at. rewrite !map_map. induction F; simpl; f_equal; auto. }
  apply (some_view_right known h x known_right); rewrite bare_shape; [exact S|]. intros i B _. unfold read_as.
  rewrite Blocks by (rewrite <- N; apply ravel_range, B). destruct (G i B (s_offset b x)) as [Y No]. unfold flat_at.
  assert (P : forall o, (inside_found x r i -> at_index o (axes_at x (reshaped_axes target r)) i = Some (o +
    found_value x r i)) /\
    (~ inside_found x r i -> at_index o (axes_at x (reshaped_axes target r)) i = None)).
  { intro o. clear -F B. revert i B. unfold reshaped_axes.
    induction F as [|f n r t Fn F IH]; intros [|j i] B; simpl in *; try contradiction.
    - split; [intros _; f_equal; lia | tauto].
    - destruct B as [Hj B]. destruct (IH i B) as [Y N]. split.
      + intros [J I]. rewrite valid_true by (simpl; lia). rewrite (Y I). simpl. f_equal. ring.
      + intro X. destruct (valid _ j) eqn:V; auto. apply valid_iff in V. simpl in V. rewrite N; auto. }
  unfold view_at. simpl. destruct (P (s_offset b x)) as [Py Pn]. destruct (inside_found_dec x r i) as [D|D].
  - rewrite (Py D), (Y D). reflexivity.
  - rewrite (Pn D), (No D). reflexivity.
Qed.
End Run.

(* Wherever the trace holds that the hints left, the view that they gave is the reshape. *)
Theorem reshape_trace_implies (hint x : assignment) v target :
  (forall n k, known n k = true -> n x = k) -> proper_view hint v -> proper_view x v ->
  sizes_positive hint target -> sizes_positive x target -> product (sizes_at x target) = numel (axes_at x (s_axes v)) ->
  holds x (snd (run hint (reshaped hint v target))) ->
  forall v', fst (run hint (reshaped hint v target)) = Some v' ->
  shape (axes_at x (s_axes v')) = sizes_at x target /\
  forall i, box (sizes_at x target) i -> view_at x v' i = flat_at x v (ravel (sizes_at x target) i).
Proof.
  intros K Vh V Ph P N T v' E. pose proof (reshaped_right hint x K v target V Vh P Ph N T) as A. rewrite E in A.
  simpl in A. rewrite bare_shape in A. split; intros; apply A; auto.
Qed.

Theorem reshape_trace_same (hint x : assignment) v target :
  holds x (snd (run hint (reshaped hint v target))) ->
    run x (reshaped hint v target) = run hint (reshaped hint v target).
Proof. apply guards_imply. Qed.
End Symbolic.
