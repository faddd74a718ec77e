(* The guard trace of the branching form of contiguity implies its answer.

   What: `asking` is the branching loop over axes whose extents and strides depend on an assignment of symbols: it asks
         `numel == 0`, then from the innermost axis on `extent == 1` and, where that is false, `stride == product`.
         Its answer at an assignment is that of the plain form there, and holds wherever its trace does.
   Why:  guards of a contiguity test are reused for other sizes (guards.v). *)
Require Import ZArith List Bool.
Require Import Oriel.contiguity Oriel.guards.
Import ListNotations.
Open Scope Z_scope.

Section Symbolic.
Variable assignment : Type.
Notation size := (assignment -> Z).
Notation axes := (list (size * size)).                                  (* extents and strides, innermost first *)

Definition at_ (x : assignment) (l : axes) : list dim := map (fun d => (fst d x, snd d x)) l.

Fixpoint asking_loop (l : axes) (z : size) : program assignment bool :=
  match l with
  | [] => Ret true
  | (s, t) :: l =>
      Ask (fun x => s x =? 1) (fun one => if one then asking_loop l z else
      Ask (fun x => t x =? z x) (fun fits => if fits then asking_loop l (fun x => z x * s x) else Ret false))
  end.
Definition asking (l : axes) : program assignment bool :=
  Ask (fun x => numel (at_ x l) =? 0) (fun empty => if empty then Ret true else asking_loop l (fun _ => 1)).

Lemma asking_loop_answers x l : forall z, fst (run x (asking_loop l z)) = branchy_loop (at_ x l) (z x).
Proof.
  induction l as [|[s t] l IH]; intro z; simpl; auto.
  destruct (s x =? 1) eqn:S; simpl.
  - rewrite <- IH. destruct (run x (asking_loop l z)); reflexivity.
  - destruct (t x =? z x) eqn:T; simpl; auto.
    specialize (IH (fun x => z x * s x)). simpl in IH. rewrite <- IH.
    destruct (run x (asking_loop l (fun x => z x * s x))); reflexivity.
Qed.

(* At each assignment the program answers as the plain form does there. *)
Theorem asking_is_branchy x l : fst (run x (asking l)) = branchy (at_ x l).
Proof.
  unfold asking, branchy; simpl. destruct (numel (at_ x l) =? 0); simpl; auto.
  rewrite <- (asking_loop_answers x l (fun _ => 1)). destruct (run x (asking_loop l (fun _ => 1))); reflexivity.
Qed.

(* Wherever the trace that the hints left holds, the hints' answer is right, in both forms. *)
Theorem contiguity_trace_implies (hint x : assignment) l :
  holds x (snd (run hint (asking l))) ->
  branchy (at_ x l) = fst (run hint (asking l)) /\ branchless (at_ x l) = fst (run hint (asking l)).
Proof.
  intro H. rewrite contiguity_equiv, <- asking_is_branchy, (guards_imply _ _ _ _ H). auto.
Qed.

(* And the same questions are asked there, so a second trace adds no guard. *)
Theorem contiguity_trace_same (hint x : assignment) l :
  holds x (snd (run hint (asking l))) -> snd (run x (asking l)) = snd (run hint (asking l)).
Proof. intro H. rewrite (guards_imply _ _ _ _ H). reflexivity. Qed.
End Symbolic.
