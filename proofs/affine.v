(* Affine maps on a box, and the least and greatest value of one.

   Why: whether a composite of views is one view is the question whether a map is affine on a box; the extreme values of
        an affine form lie at corners, so that they cost one pass over the axes. *)
Require Import ZArith Lia List.
From Oriel Require Import mixed_radix.
Import ListNotations.
Open Scope Z_scope.

Fixpoint dot (c x : list Z) : Z :=
  match c, x with
  | a :: c, i :: x => a * i + dot c x
  | _, _ => 0
  end.

Definition affine (e : list Z) (g : list Z -> Z) :=
  exists a b, length b = length e /\ forall x, box e x -> g x = a + dot b x.

Fixpoint origin (e : list Z) : list Z :=
  match e with
  | [] => []
  | _ :: e => 0 :: origin e
  end.

Lemma box_origin e : positive e -> box e (origin e).
Proof. induction 1; simpl in *; auto. split; auto; lia. Qed.

Lemma dot_origin e : forall c, dot c (origin e) = 0.
Proof. induction e; intros [|b c]; simpl; auto. rewrite IHe. lia. Qed.

Lemma origin_dot e : forall x, dot (origin e) x = 0.
Proof. induction e; intros [|i x]; simpl; try rewrite IHe; auto; lia. Qed.

Lemma origin_length e : length (origin e) = length e.
Proof. induction e; simpl; auto. Qed.

(* ---- extreme values, attained at corners *)

Fixpoint lowest (c e : list Z) : Z :=
  match c, e with
  | a :: c, s :: e => Z.min 0 (a * (s - 1)) + lowest c e
  | _, _ => 0
  end.
Fixpoint highest (c e : list Z) : Z :=
  match c, e with
  | a :: c, s :: e => Z.max 0 (a * (s - 1)) + highest c e
  | _, _ => 0
  end.

Lemma span_bounds e : forall c x, box e x -> lowest c e <= dot c x <= highest c e.
Proof.
  induction e as [|s e IH]; intros [|a c] [|i x] H; simpl in *; try contradiction; try lia.
  destruct H as [Hi H]. specialize (IH c x H).
  assert (Z.min 0 (a * (s - 1)) <= a * i <= Z.max 0 (a * (s - 1))) by (destruct (Z.leb_spec 0 a); nia). lia.
Qed.

Lemma span_attained e : positive e -> forall c,
  (exists x, box e x /\ dot c x = lowest c e) /\ (exists x, box e x /\ dot c x = highest c e).
Proof.
  induction 1 as [|s e Hs He IH]; intros c.
  { split; exists []; destruct c; simpl; auto. }
  destruct c as [|a c].
  { assert (B : box (s :: e) (origin (s :: e))) by (apply box_origin; constructor; auto).
    split; exists (origin (s :: e)); split; auto. }
  destruct (IH c) as [(x & B & D) (y & B' & D')]. simpl.
  destruct (Z.leb_spec 0 a).
  - split; [exists (0 :: x) | exists ((s - 1) :: y)]; simpl; (split; [split; [lia | auto]|]); rewrite ?D, ?D'; nia.
  - split; [exists ((s - 1) :: x) | exists (0 :: y)]; simpl; (split; [split; [lia | auto]|]); rewrite ?D, ?D'; nia.
Qed.
