(* Theorem L: one carry floor((O + T.x) / W) is affine on a box exactly if its remainder form stays in [0, W) at the
   box's extreme corners.

   What: carry_free_iff for given slopes; carry_affine_iff for the only slopes that can do, those at the unit vectors.
   Why:  O(rank) work replaces a walk over the box. *)
Require Import ZArith Lia List.
From Oriel Require Import mixed_radix affine.
Import ListNotations.
Open Scope Z_scope.

Fixpoint remainder (T b : list Z) (W : Z) : list Z :=
  match T, b with
  | t :: T, s :: b => (t - W * s) :: remainder T b W
  | _, _ => []
  end.

Lemma dot_remainder T : forall b W x, length T = length b -> dot (remainder T b W) x = dot T x - W * dot b x.
Proof. induction T as [|t T IH]; intros [|s b] W [|i x] H; simpl in *; try lia. rewrite IH by lia. lia. Qed.

Theorem carry_free_iff e O T W b : positive e -> W > 0 -> length T = length b ->
  ((forall x, box e x -> (O + dot T x) / W = O / W + dot b x) <->
   (0 <= O mod W + lowest (remainder T b W) e /\ O mod W + highest (remainder T b W) e < W)).
Proof.
  intros He HW HL. assert (DM := Z.div_mod O W ltac:(lia)). split.
  - intro H. destruct (span_attained e He (remainder T b W)) as [(x & B & D) (y & B' & D')].
    rewrite <- D, <- D', !dot_remainder by auto.
    assert (X := H x B). assert (Y := H y B').
    pose proof (Z.div_mod (O + dot T x) W ltac:(lia)). pose proof (Z.mod_pos_bound (O + dot T x) W ltac:(lia)).
    pose proof (Z.div_mod (O + dot T y) W ltac:(lia)). pose proof (Z.mod_pos_bound (O + dot T y) W ltac:(lia)).
    rewrite X in *. rewrite Y in *. nia.
  - intros [L R] x B. pose proof (span_bounds e (remainder T b W) x B) as S. rewrite dot_remainder in S by auto.
    symmetry. apply (Z.div_unique _ _ _ (O mod W + (dot T x - W * dot b x))); [left; lia|]. lia.
Qed.

(* no other slopes than those seen at the unit vectors can do *)
Lemma slopes_forced O W e : Forall (fun s => 2 <= s) e -> forall T a b, length T = length e -> length b = length e ->
  (forall x, box e x -> (O + dot T x) / W = a + dot b x) -> b = map (fun t => (O + t) / W - O / W) T.
Proof.
  induction 1 as [|s e Hs He IH]; intros [|t T] a [|b1 b] LT Lb H; simpl in LT, Lb; try discriminate; auto.
  assert (Hp : positive e) by (revert He; apply Forall_impl; intros; lia). pose proof (box_origin e Hp) as B0.
  pose proof (H (0 :: origin e) ltac:(simpl; split; auto; lia)) as At0.
  pose proof (H (1 :: origin e) ltac:(simpl; split; auto; lia)) as At1.
  simpl in At0, At1. rewrite !dot_origin in At0, At1. simpl. f_equal.
  - replace (O + (t * 0 + 0)) with O in At0 by ring. replace (O + (t * 1 + 0)) with (O + t) in At1 by ring. lia.
  - apply (IH T a b); try lia. intros x B. specialize (H (0 :: x) ltac:(simpl; split; auto; lia)).
    simpl in H. rewrite !Z.mul_0_r in H. exact H.
Qed.

Theorem carry_affine_iff e O T W : Forall (fun s => 2 <= s) e -> W > 0 -> length T = length e ->
  let r := remainder T (map (fun t => (O + t) / W - O / W) T) W in
  (affine e (fun x => (O + dot T x) / W) <-> 0 <= O mod W + lowest r e /\ O mod W + highest r e < W).
Proof.
  intros He HW HL r. assert (Hp : positive e) by (revert He; apply Forall_impl; intros; lia). unfold r.
  rewrite <- carry_free_iff by (auto; rewrite map_length; auto). split.
  - intros (a & b & Hb & H). pose proof (slopes_forced O W e He T a b HL Hb H) as <-. intros x B. rewrite (H x B).
    pose proof (H (origin e) (box_origin e Hp)) as A. rewrite !dot_origin, Z.add_0_r in A. lia.
  - intro H. exists (O / W), (map (fun t => (O + t) / W - O / W) T). split; [rewrite map_length; auto | exact H].
Qed.
