(* What holds after a program that found its path by the hints: the rules by which merge_guards.v reasons.

   What: `ensures h x p Q` says: if the trace of p, found with the hints h, holds at x, then Q of its answer. One rule
         for each way to write a program. A program may also look at the hints without asking (`given`): they choose
         what is tried, and nothing is recorded.
   Why:  a procedure on symbols runs for the hints alone, and its answer has to be right at every x where its trace
         holds. So each step has the answers of both at hand. *)
Require Import List Bool.
From Oriel Require Import guards.
Import ListNotations.

Section Asking.
Context {assignment : Type}.
Notation program := (program assignment).
Notation condition := (assignment -> bool).
Variables h x : assignment.

Definition ensures {answer} (p : program answer) (Q : answer -> Prop) := holds x (snd (run h p)) -> Q (fst (run h p)).

Lemma ensures_ret {answer} (a : answer) (Q : answer -> Prop) : Q a -> ensures (Ret a) Q.
Proof. unfold ensures. auto. Qed.

Lemma ensures_ask {answer} c (k : bool -> program answer) Q :
  (forall b, c h = b -> c x = b -> ensures (k b) Q) -> ensures (Ask c k) Q.
Proof.
  unfold ensures. simpl. intro H. specialize (H (c h) eq_refl). destruct (run h (k (c h))) as [a t]. simpl in *.
  intro T. inversion T as [|g t' E R]; subst. apply H; auto.
Qed.

Lemma ensures_bind {a b} (p : program a) (f : a -> program b) Q :
  ensures p (fun r => ensures (f r) Q) -> ensures (bind p f) Q.
Proof.
  unfold ensures. rewrite run_bind. destruct (run h p) as [r t]. simpl. destruct (run h (f r)) as [s u]. simpl.
  unfold holds. rewrite Forall_app. tauto.
Qed.

Lemma ensures_weaken {answer} (p : program answer) (Q Q' : answer -> Prop) :
  ensures p Q -> (forall a, Q a -> Q' a) -> ensures p Q'.
Proof. unfold ensures. auto. Qed.

Lemma ensures_both {answer} (p : program answer) (Q Q' : answer -> Prop) :
  ensures p Q -> ensures p Q' -> ensures p (fun a => Q a /\ Q' a).
Proof. unfold ensures. auto. Qed.

(* Asks only where the hints say yes. Where they say no, "no" is a form that serves all sizes: nothing is recorded. *)
Definition given (c : condition) : program bool := if c h then Ask c (fun b => Ret b) else Ret false.

Lemma ensures_given c (Q : bool -> Prop) :
  (c h = true -> c x = true -> Q true) -> (c h = false -> Q false) -> ensures (given c) Q.
Proof.
  intros Y N. unfold given. destruct (c h) eqn:E; [|apply ensures_ret; auto].
  apply ensures_ask. intros b Hb Xb. rewrite E in Hb. subst b. apply ensures_ret; auto.
Qed.
End Asking.

(* What holds for the hints themselves needs no trace. *)
Lemma ensures_at_hints {assignment answer} (h x : assignment) (p : program assignment answer) Q :
  ensures h h p Q -> ensures h x p Q.
Proof. intros H _. apply H, own_trace. Qed.

(* One step of a proof about a program. *)
Ltac by_bind := apply ensures_bind.
Ltac by_given := apply ensures_bind, ensures_given; cbv beta; intros ? **.
Ltac by_ask b := apply ensures_ask; cbv beta; intros b ? ?; destruct b.
Ltac by_ret := apply ensures_ret.
