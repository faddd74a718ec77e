(* The adjoint of nested axes and a fibre by blocks: which block each term reads.

   What: the greatest nested step is a block of elements, and the fibre's steps are multiples of it. The source lies in
         whole blocks (blocks_hold_source). A term moves blocks alone: it reads block b - front - c . j at index j of
         the fibre, and the same place in each (shifted_adjoint). With the fibre reversed and zeros in front, block b of
         the sum reads block b + c . j, and never beyond the zeros (shift_right, shift_inside).
   Why:  engine/grad/adjoint.cpp pads so (widen), makes one view of all terms (shift_all), and crops (unblocked). *)
Require Import ZArith Lia List Bool.
From Oriel Require Import mixed_radix affine view_adjoint adjoint_nesting.
From Oriel Require value_test.
Import ListNotations.
Open Scope Z_scope.

(* blocks of a elements before the first one that is shown, and in all, for a source of n *)
Definition front (o a : Z) := (o + a - 1) / a.
Definition source_blocks (o a n : Z) := front o a + (n - 1 - o) / a + 1.
Definition start (o a : Z) := front o a * a - o.

Theorem blocks_hold_source o a n : 0 < a -> 0 <= start o a /\ start o a + n <= source_blocks o a n * a.
Proof.
  intro Ha. unfold source_blocks, start, front.
  pose proof (Z.div_mod (o + a - 1) a ltac:(lia)). pose proof (Z.mod_pos_bound (o + a - 1) a Ha).
  pose proof (Z.div_mod (n - 1 - o) a ltac:(lia)). pose proof (Z.mod_pos_bound (n - 1 - o) a Ha).
  set (f := (o + a - 1) / a) in *. set (d := (n - 1 - o) / a) in *. nia.
Qed.

(* A nested axis of m blocks inside the source: no negative number of zeros behind it. *)
Lemma zeros_behind o a n m : 0 < a -> o + a * (m - 1) < n -> m <= source_blocks o a n - front o a.
Proof.
  intros Ha H. unfold source_blocks. assert (m - 1 <= (n - 1 - o) / a) by (apply Z.div_le_lower_bound; lia). lia.
Qed.

Lemma shifted_element o a p d : 0 < a ->
  (p - a * d - o) / a = (start o a + p) / a - front o a - d /\ (p - a * d - o) mod a = (start o a + p) mod a.
Proof.
  intro Ha. unfold start. set (f := front o a).
  replace (p - a * d - o) with (f * a - o + p + (- f - d) * a) by ring. split; [|apply Z.mod_add; lia].
  rewrite Z.div_add by lia. ring.
Qed.

Theorem shifted_adjoint {R : numbers} o a t m e c f (g : list Z -> R) p : 0 < a -> nested (a :: t) (m :: e) ->
  adjoint (indices ((m :: e) ++ f)) (strided o ((a :: t) ++ map (Z.mul a) c)) g p =
  total (indices f) (fun j =>
    let b := (start o a + p) / a - front o a - dot c j in
    if (0 <=? b) && (b <? m)
    then match greedy t e ((start o a + p) mod a) with Some i => g (b :: i ++ j) | None => zero end
    else zero).
Proof.
  intros Ha N. rewrite fibre_terms by exact N. apply total_ext. intros j _.
  rewrite value_test.dot_scale. cbn [greedy]. destruct (shifted_element o a p (dot c j) Ha) as [-> ->]. cbv zeta.
  destruct (_ && _); auto. destruct (greedy t e _); reflexivity.
Qed.

(* ---- one view of all terms *)

Fixpoint reversed (f j : list Z) : list Z :=
  match f, j with
  | n :: f, k :: j => n - 1 - k :: reversed f j
  | _, _ => []
  end.

(* an axis of m elements with zeros in front and behind *)
Definition padded {R : numbers} (before m : Z) (u : Z -> R) (x : Z) : R :=
  if (0 <=? x - before) && (x - before <? m) then u (x - before) else zero.

Lemma reversed_dot c : forall f j, length c = length f -> box f j -> dot c (reversed f j) = reach c f - dot c j.
Proof.
  induction c as [|a c IH]; intros [|n f] [|k j]; simpl; try discriminate; try contradiction; auto.
  intros [= L] [_ B]. rewrite IH by auto. ring.
Qed.

Lemma reversed_box f : forall j, box f j -> box f (reversed f j).
Proof. induction f as [|n f IH]; intros [|k j]; simpl; auto. intros [Hk B]. split; [lia | auto]. Qed.

Theorem shift_right {R : numbers} c f j before m b (u : Z -> R) : length c = length f -> box f j ->
  padded (before + reach c f) m u (b + dot c (reversed f j)) = padded before m u (b - dot c j).
Proof.
  intros L B. unfold padded. rewrite reversed_dot by auto.
  replace (b + (reach c f - dot c j) - (before + reach c f)) with (b - dot c j - before) by ring. reflexivity.
Qed.

Lemma dot_reach c : forall f j, Forall (fun a => 0 <= a) c -> length c = length f -> box f j ->
  0 <= dot c j <= reach c f.
Proof.
  induction c as [|a c IH]; intros [|n f] [|k j] P; simpl; try discriminate; try contradiction; try lia.
  intros [= L] [Hk B]. inversion P; subst. specialize (IH f j ltac:(auto) L B). nia.
Qed.

(* `blocks` blocks in all: reading stays within what is in front, the m blocks, and what is behind. *)
Theorem shift_inside c f j before m blocks b : Forall (fun a => 0 <= a) c -> length c = length f -> box f j ->
  0 <= b < blocks ->
  0 <= b + dot c (reversed f j) < before + reach c f + m + (blocks - before - m).
Proof.
  intros P L B Hb. pose proof (dot_reach c f (reversed f j) P L (reversed_box f j B)). lia.
Qed.
