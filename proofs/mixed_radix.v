(* Mixed radix: an index of a shape and its row-major number are the same thing.

   What: one digit, then a whole index; unravel and ravel are inverse to each other, in both directions.
   Why:  a stack of views hands the number that one view yields to the next, which reads it as an index. Every later
         file speaks about that number.
   Lists run from the innermost axis to the outermost, in all files: recursion then follows the arithmetic. *)
Require Import ZArith Lia List.
Import ListNotations.
Open Scope Z_scope.

(* ---- one digit *)

Lemma ravel_unravel n s : s > 0 -> s * (n / s) + n mod s = n.
Proof. intros. symmetry. apply Z.div_mod. lia. Qed.

Lemma unravel_ravel i j s : 0 <= j < s -> (s * i + j) / s = i /\ (s * i + j) mod s = j.
Proof. intros. split; symmetry; [apply (Z.div_unique _ _ i j) | apply (Z.mod_unique _ _ i j)]; lia. Qed.

Lemma two_digits n s s' : 0 < s -> 0 < s' ->
  n mod (s * s') = s * ((n / s) mod s') + n mod s /\ n / (s * s') = n / s / s'.
Proof. intros. split; [rewrite Z.rem_mul_r by lia; lia | rewrite Z.div_div by lia; auto]. Qed.

(* ---- an index of a shape *)

Definition product (e : list Z) : Z := fold_right Z.mul 1 e.

Definition positive (e : list Z) := Forall (fun s => 1 <= s) e.

Fixpoint box (e x : list Z) : Prop :=
  match e, x with
  | [], [] => True
  | s :: e, i :: x => 0 <= i < s /\ box e x
  | _, _ => False
  end.

Fixpoint ravel (e x : list Z) : Z :=
  match e, x with
  | s :: e, i :: x => i + s * ravel e x
  | _, _ => 0
  end.

Fixpoint unravel (e : list Z) (n : Z) : list Z :=
  match e with
  | [] => []
  | s :: e => n mod s :: unravel e (n / s)
  end.

Lemma product_positive e : positive e -> 1 <= product e.
Proof. unfold product. induction 1; simpl in *; nia. Qed.

Lemma product_app e1 e2 : product (e1 ++ e2) = product e1 * product e2.
Proof. unfold product. induction e1 as [|s e1 IH]; cbn [app fold_right]; [lia | rewrite IH; ring]. Qed.

Lemma box_length e : forall x, box e x -> length x = length e.
Proof. induction e as [|s e IH]; intros [|i x] B; simpl in *; try contradiction; auto. f_equal. apply IH, B. Qed.

Lemma ravel_range e : forall x, box e x -> 0 <= ravel e x < product e.
Proof.
  unfold product. induction e as [|s e IH]; intros [|i x] B; simpl in *; try contradiction; [lia|].
  destruct B as [Hi B]. specialize (IH x B). nia.
Qed.

Lemma unravel_box e : positive e -> forall n, 0 <= n < product e -> box e (unravel e n).
Proof.
  unfold product. induction 1 as [|s e Hs He IH]; simpl in *; auto. intros n Hn.
  split; [apply Z.mod_pos_bound; lia|]. apply IH. split; [apply Z.div_pos; lia | apply Z.div_lt_upper_bound; lia].
Qed.

Theorem ravel_unravel_index e : positive e -> forall n, 0 <= n < product e -> ravel e (unravel e n) = n.
Proof.
  unfold product. induction 1 as [|s e Hs He IH]; simpl in *; intros n Hn; [lia|].
  rewrite IH; [pose proof (ravel_unravel n s); lia|].
  split; [apply Z.div_pos; lia | apply Z.div_lt_upper_bound; lia].
Qed.

Theorem unravel_ravel_index e : forall x, box e x -> unravel e (ravel e x) = x.
Proof.
  induction e as [|s e IH]; intros [|i x] B; simpl in *; try contradiction; auto.
  destruct B as [Hi B]. rewrite Z.add_comm. destruct (unravel_ravel (ravel e x) i s Hi) as [-> ->].
  f_equal. apply IH, B.
Qed.

(* ---- an index in two parts *)

Lemma box_app e1 : forall e2 x1 x2, length x1 = length e1 -> (box (e1 ++ e2) (x1 ++ x2) <-> box e1 x1 /\ box e2 x2).
Proof.
  induction e1 as [|s e1 IH]; intros e2 [|i x1] x2 L; simpl in *; try discriminate; [tauto|].
  rewrite IH by congruence. tauto.
Qed.

Lemma box_split e1 : forall e2 x, box (e1 ++ e2) x -> exists x1 x2, x = x1 ++ x2 /\ box e1 x1 /\ box e2 x2.
Proof.
  induction e1 as [|s e1 IH]; intros e2 x B; simpl in *.
  - exists [], x. auto.
  - destruct x as [|i x]; [contradiction|]. destruct B as [Hi B].
    destruct (IH e2 x B) as (x1 & x2 & -> & B1 & B2). exists (i :: x1), x2. simpl. auto.
Qed.

Lemma ravel_app e1 : forall e2 x1 x2, length x1 = length e1 ->
  ravel (e1 ++ e2) (x1 ++ x2) = ravel e1 x1 + product e1 * ravel e2 x2.
Proof.
  unfold product. induction e1 as [|s e1 IH]; intros e2 [|i x1] x2 L; try discriminate; cbn [app ravel fold_right];
    [lia|].
  rewrite IH by (injection L; auto). ring.
Qed.
