(* The hardness gadget: two carries of one number n(A) whose difference is affine in A plus the indicator of A = tau.

   What: n = (q - tau - 2 + A) * R + (R - tau + A), read at the cuts R and q*R, for 0 <= A <= S.
   Why:  with A = a.x on a cube of zeros and ones, the composite is affine exactly if no subset of the a sums to tau: to
         decide whether two unmasked views merge is as hard as Subset Sum (Theorem H1 in PROOF.md). *)
Require Import ZArith Lia.
Open Scope Z_scope.

Section Gadget.
Variables A S tau R q : Z.
Hypotheses (HA : 0 <= A <= S) (Ht : 0 <= tau) (HR : S + tau + 2 < R) (Hq : S + tau + 2 < q).
Let n := (q - tau - 2 + A) * R + (R - tau + A).

Lemma low_carry : n / R = q - tau - 2 + A + (if A <? tau then 0 else 1).
Proof.
  symmetry. destruct (Z.ltb_spec A tau).
  - apply (Z.div_unique _ _ _ (R - tau + A)); unfold n; nia.
  - apply (Z.div_unique _ _ _ (A - tau)); unfold n; nia.
Qed.

Lemma high_carry : n / (q * R) = if A <=? tau then 0 else 1.
Proof.
  rewrite Z.mul_comm, <- Z.div_div by lia. rewrite low_carry. symmetry.
  destruct (Z.leb_spec A tau), (Z.ltb_spec A tau); try lia.
  - apply (Z.div_unique _ _ _ (q - tau - 2 + A)); lia.
  - apply (Z.div_unique _ _ _ (q - tau - 2 + A + 1)); lia.
  - apply (Z.div_unique _ _ _ (A - tau - 1)); lia.
Qed.

Theorem gadget : n / R - (q - tau - 2 + A) - n / (q * R) = if A =? tau then 1 else 0.
Proof.
  rewrite low_carry, high_carry. destruct (Z.leb_spec A tau), (Z.ltb_spec A tau), (Z.eqb_spec A tau); lia.
Qed.
End Gadget.
