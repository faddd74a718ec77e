(* Guards: an answer that code found by branching holds wherever the recorded conditions have their answers.

   What: a program that asks conditions, one after the other, and depends on nothing else. Run with the answers of the
         hints it gives a result and a trace: the conditions and their answers. Every assignment of the symbols under
         which the conditions have these answers gives the same result and the same trace. Of the trace, guards may be
         dropped that the others imply.
   Why:  a captured computation is used again for other sizes. This says when that is right. *)
Require Import List Bool.
Import ListNotations.

Section Programs.
Variable assignment : Type.                                             (* values of all symbols *)
Definition condition := assignment -> bool.

Inductive program (answer : Type) : Type :=
  | Ret (a : answer)
  | Ask (c : condition) (k : bool -> program answer).
Arguments Ret {answer} a.
Arguments Ask {answer} c k.

Definition trace := list (condition * bool).

Fixpoint run {answer} (at_ : assignment) (p : program answer) : answer * trace :=
  match p with
  | Ret a => (a, [])
  | Ask c k => let (a, t) := run at_ (k (c at_)) in (a, (c, c at_) :: t)
  end.

(* Do the conditions have the recorded answers at this assignment? *)
Definition holds (x : assignment) (t : trace) : Prop := Forall (fun g => fst g x = snd g) t.

Lemma own_trace {answer} x (p : program answer) : holds x (snd (run x p)).
Proof.
  induction p as [a | c k IH]; simpl; [constructor|].
  specialize (IH (c x)). destruct (run x (k (c x))) as [a t]. constructor; auto.
Qed.

Theorem guards_imply {answer} (hint x : assignment) (p : program answer) :
  holds x (snd (run hint p)) -> run x p = run hint p.
Proof.
  induction p as [a | c k IH]; simpl; auto.
  specialize (IH (c hint)). destruct (run hint (k (c hint))) as [a t]. simpl in *. intro H.
  inversion H as [|g t' E R]; subst. simpl in E. rewrite E. rewrite (IH R). reflexivity.
Qed.

(* Assignments outside of the symbols' ranges do not count: `possible` are the others. *)
Theorem kept_guards_imply {answer} (possible : assignment -> Prop) (kept : trace) (hint : assignment)
    (p : program answer) :
  (forall x, possible x -> holds x kept -> holds x (snd (run hint p))) ->
  forall x, possible x -> holds x kept -> run x p = run hint p.
Proof. intros H x P K. apply guards_imply, H; assumption. Qed.

(* What a procedure on plain numbers guarantees of its answer, the recorded answer has wherever the trace holds. With
   `right` as "this view is the stack", that is the statement for merging. *)
Theorem right_where_guards_hold {answer} (right : answer -> assignment -> Prop) (p : program answer) :
  (forall x, right (fst (run x p)) x) ->
  forall hint x, holds x (snd (run hint p)) -> right (fst (run hint p)) x.
Proof. intros R hint x H. rewrite <- (guards_imply hint x p H). apply R. Qed.

(* One guard that the others imply may go, whatever stands before it and behind it. *)
Theorem implied_guard_dropped (possible : assignment -> Prop) (before behind : trace) (g : condition * bool) :
  (forall x, possible x -> holds x (before ++ behind) -> fst g x = snd g) ->
  forall x, possible x -> (holds x (before ++ behind) <-> holds x (before ++ g :: behind)).
Proof.
  intros I x P. unfold holds. split; intro H.
  - pose proof (I x P H). apply Forall_app in H. destruct H. apply Forall_app. split; auto.
  - apply Forall_app in H. destruct H as [A B]. apply Forall_app. inversion B. split; auto.
Qed.

(* One program after another: what a caller decides after it was told. *)
Fixpoint bind {a b} (p : program a) (f : a -> program b) : program b :=
  match p with
  | Ret x => f x
  | Ask c k => Ask c (fun answer => bind (k answer) f)
  end.

Theorem run_bind {a b} x (p : program a) (f : a -> program b) :
  run x (bind p f) = let (r, t) := run x p in let (s, u) := run x (f r) in (s, t ++ u).
Proof.
  induction p as [r | c k IH]; simpl.
  - destruct (run x (f r)); reflexivity.
  - rewrite IH. destruct (run x (k (c x))) as [r t]. destruct (run x (f r)). reflexivity.
Qed.
End Programs.
Arguments Ret {assignment answer} a.
Arguments Ask {assignment answer} c k.
Arguments run {assignment answer}.
Arguments holds {assignment}.
Arguments bind {assignment a b}.
