(* Theorem P: where a carry repeats along an axis, p + 1 points tell about all of it.

   What: a carry floor((o + t*x) / W) repeats with any period p such that W divides t*p (carry_period). A map f with
         f(x + p) = f(x) + K along each axis is affine on a box if it is affine on the box cut to p + 1 points an axis
         (period_reduction in one dimension, period_reduction_box in all).
   Why:  what no theorem settles is enumerated on the cut box, whose size does not depend on the extents. *)
Require Import ZArith Lia List.
From Oriel Require Import mixed_radix affine carry_form.
Import ListNotations.
Open Scope Z_scope.

Lemma carry_period o t W p m : W > 0 -> t * p = W * m -> forall x, (o + t * (x + p)) / W = (o + t * x) / W + m.
Proof. intros HW H x. replace (o + t * (x + p)) with (o + t * x + m * W) by nia. apply Z.div_add. lia. Qed.

(* ---- one axis: an affine start and a period give an affine line *)

Lemma line_reduction f s p K a b : p > 0 ->
  (forall i, 0 <= i -> i + p < s -> f (i + p) = f i + K) ->
  (forall i, 0 <= i < Z.min s (p + 1) -> f i = a + b * i) ->
  forall i, 0 <= i < s -> f i = a + b * i.
Proof.
  intros HP HK HA. destruct (Z.le_gt_cases s (p + 1)) as [Short|Long]; [intros; apply HA; lia|].
  assert (EK : K = b * p).
  { pose proof (HA p ltac:(lia)) as Ap. pose proof (HA 0 ltac:(lia)) as A0.
    pose proof (HK 0 ltac:(lia) ltac:(lia)) as S0.
    simpl in S0. lia. }
  assert (Q : forall q, 0 <= q -> forall r, 0 <= r < p -> r + q * p < s -> f (r + q * p) = a + b * (r + q * p)).
  { apply (natlike_ind (fun q => forall r, 0 <= r < p -> r + q * p < s -> f (r + q * p) = a + b * (r + q * p))).
    - intros r Hr _. rewrite Z.mul_0_l, Z.add_0_r. apply HA. lia.
    - intros q Hq IH r Hr Hs. replace (r + Z.succ q * p) with (r + q * p + p) in * by ring.
      rewrite HK by nia. rewrite IH by lia. subst K. ring. }
  intros i Hi. pose proof (Z.div_mod i p ltac:(lia)) as D. pose proof (Z.mod_pos_bound i p ltac:(lia)).
  assert (0 <= i / p) by (apply Z.div_pos; lia).
  assert (E : i = i mod p + i / p * p) by lia. rewrite E. apply Q; auto; lia.
Qed.

Theorem period_reduction f p K b : p > 0 ->
  (forall x, 0 <= x -> f (x + p) = f x + K) -> (forall x, 0 <= x <= p -> f x = f 0 + b * x) ->
  forall x, 0 <= x -> f x = f 0 + b * x.
Proof.
  intros HP HK HA x Hx. apply (line_reduction f (x + 1) p K); auto; try lia. intros i Hi. apply HA. lia.
Qed.

(* ---- all axes *)

(* along axis d, f repeats with period p_d up to the constant K_d *)
Fixpoint periodic (e P K : list Z) (f : list Z -> Z) : Prop :=
  match e, P, K with
  | [], [], [] => True
  | s :: e, p :: P, k :: K =>
    p > 0 /\ (forall i x, 0 <= i -> i + p < s -> box e x -> f (i + p :: x) = f (i :: x) + k) /\
    (forall i, 0 <= i < s -> periodic e P K (fun x => f (i :: x)))
  | _, _, _ => False
  end.

Fixpoint cut (e P : list Z) : list Z :=
  match e, P with
  | s :: e, p :: P => Z.min s (p + 1) :: cut e P
  | _, _ => []
  end.

Lemma cut_extends e : forall P K f a b, periodic e P K f -> length b = length e ->
  (forall x, box (cut e P) x -> f x = a + dot b x) -> forall x, box e x -> f x = a + dot b x.
Proof.
  induction e as [|s e IH]; intros [|p P] [|k K] f a [|b1 b] HP HL H; simpl in HP, HL; try easy.
  destruct HP as (Hp & Step & Rest). intros [|i x] B; simpl in B; [contradiction|]. destruct B as [Hi B].
  assert (Inner : forall i', 0 <= i' < Z.min s (p + 1) -> f (i' :: x) = (a + dot b x) + b1 * i').
  { intros i' Hi'. rewrite (IH P K (fun y => f (i' :: y)) (a + b1 * i') b); auto; try lia.
    - apply Rest. lia.
    - intros y By. rewrite H by (simpl; auto). simpl. ring. }
  simpl. rewrite (line_reduction (fun j => f (j :: x)) s p k (a + dot b x) b1); auto; lia.
Qed.

Theorem period_reduction_box e P K f : positive e -> periodic e P K f -> (affine (cut e P) f <-> affine e f).
Proof.
  intros He HP. assert (L : length (cut e P) = length e).
  { revert P K f HP. induction He as [|s e Hs He IH]; intros [|p P] [|k K] f HP; simpl in *; try easy.
    destruct HP as (_ & _ & R). f_equal. apply (IH P K _ (R 0 ltac:(lia))). }
  split; intros (a & b & Hb & H).
  - exists a, b. split; [lia|]. apply (cut_extends e P K f a b HP); auto. lia.
  - exists a, b. split; [lia|]. intros x B. apply H. clear - B L.
    revert P x B L. induction e as [|s e IH]; intros [|p P] [|i x] B L; simpl in *; try easy.
    destruct B as [Hi B]. split; [lia|]. apply (IH P); auto.
Qed.

(* ---- the sum of carries of a stack is such a map *)

Lemma sum_step L n v : Forall (fun x => 0 < fst x /\ (fst x | v)) L -> sum L (n + v) = sum L n + sum L v.
Proof.
  induction 1 as [|[W c] L [HW [m E]] _ IH]; simpl in *; [lia|].
  rewrite IH, E. rewrite Z.div_add, Z.div_mul by lia. ring.
Qed.

Lemma periodic_ext e : forall P K f g, (forall x, f x = g x) -> periodic e P K f -> periodic e P K g.
Proof.
  induction e as [|s e IH]; intros [|p P] [|k K] f g E H; simpl in *; try easy.
  destruct H as (Hp & Step & R). repeat split; auto.
  - intros i x Hi Hs B. rewrite <- !E. apply Step; auto.
  - intros i Hi. apply (IH P K (fun x => f (i :: x))); auto.
Qed.

Fixpoint steps (L : list term) (T P : list Z) : list Z :=
  match T, P with
  | t :: T, p :: P => sum L (t * p) :: steps L T P
  | _, _ => []
  end.

Definition periods (L : list term) (T P : list Z) :=
  Forall2 (fun t p => p > 0 /\ Forall (fun x => 0 < fst x /\ (fst x | t * p)) L) T P.

Theorem carries_periodic L T P : periods L T P -> forall e O, length e = length T ->
  periodic e P (steps L T P) (fun x => sum L (O + dot T x)).
Proof.
  induction 1 as [|t p T P [Hp HL] _ IH]; intros [|s e] O E; simpl in E; try discriminate; simpl; auto.
  repeat split; auto.
  - intros i x _ _ _. rewrite <- sum_step by exact HL. f_equal. ring.
  - intros i _. apply (periodic_ext e P _ (fun x => sum L (O + t * i + dot T x))).
    + intro x. f_equal. ring.
    + apply IH. lia.
Qed.

Corollary carries_reduction L T P e O : positive e -> length e = length T -> periods L T P ->
  (affine (cut e P) (fun x => sum L (O + dot T x)) <-> affine e (fun x => sum L (O + dot T x))).
Proof. intros He E H. apply (period_reduction_box e P (steps L T P)); auto. apply carries_periodic; auto. Qed.
