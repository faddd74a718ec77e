(* The merge of two symbolic views as a program, and a reshape of one: where the trace holds, the view is right.

   What: `merging` is merge_symbolic in engine/view/merging/merge_symbolic.cpp, and `reshaped` is View::reshape: what is
         asked, in the order in which it is asked. The answer None stands for "no" and "unknown". merge_trace_implies:
         the view that the hints gave is the stack at every x where the trace holds. merge_trace_same: a second trace
         there is the same one. merge_sound: run at x with the hints x, the answer is right.
   Why:  a captured computation is used again for other sizes; its views must be right there. *)
Require Import ZArith Lia List Bool.
From Oriel Require Import mixed_radix masked_view canonical_unique canonicalize guards asking.
From Oriel Require Import symbolic_view symbolic_blocks symbolic_interval symbolic_reshape merge_walk merge_order.
From Oriel Require Import merge_paths.
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
Notation some_view := (some_view known h).
Notation merge_affine := (merge_affine known h).
Notation merge_reshape := (merge_reshape known h).
Notation merge_carries := (merge_carries known h).

Definition merging (outer inner : sview) : program (option sview) :=
  bind (given h (some_empty (s_axes outer))) (fun empty => if empty then Ret (Some (extentless (s_axes outer))) else
  bind (given h (some_invalid (s_axes outer))) (fun none => if none then Ret (merged_invalid (s_axes outer)) else
  bind (blocks_of h inner) (fun b => match b with None => Ret (merged_invalid (s_axes outer)) | Some b =>
  bind (one_map h (s_axes b)) (fun affine => if affine then merge_affine outer b else
  bind (walk_of h (s_offset outer) (s_axes outer)) (fun r => let (base, w) := r in
  let in_order := row_major h base (count_of (s_axes b)) (movers w) in
  if in_order h && negb (Nat.eqb (length (movers w)) 0)
  then Ask in_order (fun yes => if yes then merge_reshape outer b w else merge_carries outer b base w)
  else merge_carries outer b base w)) end))).

Variable x : assignment.
Hypothesis known_right : forall n k, known n k = true -> n x = k.

(* The index has a position in the inner view, or none. *)
Definition lies_in (outer inner : sview) (i : list Z) :=
  forall n, view_at x outer i = Some n -> 0 <= n < numel (axes_at x (s_axes inner)).

Lemma walk_sizes z o l : Forall view_axis (axes_at z l) ->
  ensures h z (walk_of h o l) (fun r => sizes_positive z (map width (movers (snd r)))).
Proof.
  intro V. apply (ensures_weaken _ _ _ _ _ (walk_right h z o l)). intros r (_ & _ & P & _). unfold sizes_positive.
  rewrite Forall_map. apply P, V.
Qed.

Theorem merging_right outer inner : Forall view_axis (axes_at x (s_axes outer)) ->
  Forall view_axis (axes_at x (s_axes inner)) ->
  Forall view_axis (axes_at h (s_axes outer)) -> Forall view_axis (axes_at h (s_axes inner)) ->
  ensures h x (merging outer inner) (answers x (s_axes outer) (lies_in outer inner) (stack x outer inner)).
Proof.
  intros V Vi Vh Vih. unfold merging. by_given.
  { by_ret. split; [apply extent_shape; auto|]. intros i B. destruct (some_empty_box x (s_axes outer) i); assumption. }
  by_given.
  { by_ret. apply (merged_invalid_right x). intros i B _. unfold stack, view_at. rewrite some_invalid_index; auto. }
  by_bind. apply (ensures_weaken _ _ _ _ _
    (ensures_both _ _ _ _ _ (blocks_right h x inner Vi) (blocks_certain h x inner Vih))).
  intros [b|] [Bl C]; [|by_ret].
  2: { apply (merged_invalid_right x). intros i B D. unfold stack. destruct (view_at x outer i) eqn:N; auto. }
  destruct Bl as (Vb & Nb & Blocks). rewrite <- Nb in Blocks. unfold lies_in. rewrite <- Nb.
  by_bind. apply (ensures_weaken _ _ _ _ _ (one_map_right h x b)). intros [] A.
  { apply (merge_affine_right known h x known_right); auto. }
  by_bind. eapply ensures_weaken.
  { apply ensures_both; [apply (walk_right h x)|]. apply ensures_both; [apply (walk_ranges h x)|].
    apply ensures_both; [apply (walk_sizes x), V | apply ensures_at_hints, (walk_sizes h), Vh]. }
  intros [base w] (W & R & Px & Ph). simpl fst in *. simpl snd in *.
  pose proof (merge_carries_right known h x known_right outer inner b Vb Blocks base w W R) as Carries.
  destruct (_ && _); auto. apply ensures_ask; intros [] _ Yes; auto.
  apply (merge_reshape_right known h x known_right outer inner b) with base; auto.
Qed.
End Run.

(* ---- the theorems *)

Definition proper_view (x : assignment) (v : sview) := Forall view_axis (axes_at x (s_axes v)).

(* v is the stack at x: at each index that has a position in the inner view, or none *)
Definition is_stack (x : assignment) (outer inner v : sview) :=
  shape (axes_at x (s_axes v)) = shape (axes_at x (s_axes outer)) /\
  forall i, box (shape (axes_at x (s_axes outer))) i -> lies_in x outer inner i ->
    view_at x v i = stack x outer inner i.

(* Wherever the trace holds that the hints left, the view that they gave is the stack. *)
Theorem merge_trace_implies (hint x : assignment) outer inner :
  (forall n k, known n k = true -> n x = k) -> proper_view hint outer -> proper_view hint inner ->
  proper_view x outer -> proper_view x inner ->
  holds x (snd (run hint (merging hint outer inner))) ->
  forall v, fst (run hint (merging hint outer inner)) = Some v -> is_stack x outer inner v.
Proof.
  intros K Vh Vih V Vi T v E. pose proof (merging_right hint x K outer inner V Vi Vh Vih T) as A. rewrite E in A.
  exact A.
Qed.

(* There the same questions are asked, with the same answer: a second trace adds no guard. *)
Theorem merge_trace_same (hint x : assignment) outer inner :
  holds x (snd (run hint (merging hint outer inner))) ->
  run x (merging hint outer inner) = run hint (merging hint outer inner).
Proof. apply guards_imply. Qed.

(* At each assignment, taken as the hints: what the procedure on plain numbers guarantees. *)
Theorem merge_sound (x : assignment) outer inner : (forall n k, known n k = true -> n x = k) ->
  proper_view x outer -> proper_view x inner ->
  forall v, fst (run x (merging x outer inner)) = Some v -> is_stack x outer inner v.
Proof. intros K V Vi v E. apply (merge_trace_implies x x); auto. apply own_trace. Qed.

(* Guards that the engine keeps may be fewer, if they imply the trace within the symbols' ranges. *)
Corollary merge_kept_guards_imply (possible : assignment -> Prop) (kept : trace assignment) hint outer inner :
  (forall x, possible x -> holds x kept -> holds x (snd (run hint (merging hint outer inner)))) ->
  proper_view hint outer -> proper_view hint inner ->
  forall x, possible x -> holds x kept -> (forall n k, known n k = true -> n x = k) ->
  proper_view x outer -> proper_view x inner ->
  forall v, fst (run hint (merging hint outer inner)) = Some v -> is_stack x outer inner v.
Proof. intros H Vh Vih x P T K V Vi v E. apply (merge_trace_implies hint x); auto. Qed.
End Symbolic.
