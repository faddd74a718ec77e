(* Two neighbouring axes are one axis exactly if the outer stride is the inner extent times the inner stride.

   Why: the smallest case of merging, and the one that a person checks by hand. *)
Require Import ZArith Lia.
Open Scope Z_scope.

Theorem two_axes_merge outer inner t_outer t_inner : 2 <= outer -> 2 <= inner ->
  ((exists t, forall i j, 0 <= i < outer -> 0 <= j < inner -> t_outer * i + t_inner * j = t * (inner * i + j)) <->
   t_outer = inner * t_inner).
Proof.
  intros H1 H2. split.
  - intros [t H].
    assert (Outer := H 1 0 ltac:(lia) ltac:(lia)). assert (Inner := H 0 1 ltac:(lia) ltac:(lia)). nia.
  - intros ->. exists t_inner. intros. ring.
Qed.
