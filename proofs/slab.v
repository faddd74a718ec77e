(* Theorem S: one slab p <= c*x + y <= q whose first axis dominates, already trimmed, is a box only if it is everything.

   What: y runs over a set with least value 0 and greatest value M < c; trimming has left some valid point at x = 0 and
         at x = s - 1.
   Why:  the valid set of a single open constraint then needs no enumeration. *)
Require Import ZArith Lia.
Open Scope Z_scope.

Theorem dominated_slab c M s p q (Y : Z -> Prop) :
  2 <= s -> 0 <= M < c -> Y 0 -> Y M -> (forall y, Y y -> 0 <= y <= M) ->
  p <= M -> c * (s - 1) <= q ->                                           (* trimmed, at x = 0 and at x = s - 1 *)
  (exists lo hi (Z' : Z -> Prop), forall x y, 0 <= x < s -> Y y -> (p <= c * x + y <= q <-> lo <= x < hi /\ Z' y)) ->
  forall x y, 0 <= x < s -> Y y -> p <= c * x + y <= q.
Proof.
  intros Hs HM Y0 YM HY Hp Hq (lo & hi & Z' & H) x y Hx Hy.
  assert (Low : lo <= 0 < hi /\ Z' M) by (apply H; auto; nia).
  assert (High : lo <= s - 1 < hi /\ Z' 0) by (apply H; auto; nia).
  assert (p <= c * 0 + 0 <= q) by (apply H; auto; try lia; tauto).
  assert (p <= c * (s - 1) + M <= q) by (apply H; auto; try lia; tauto).
  pose proof (HY y Hy). nia.
Qed.
