(* Theorem P for validity: where a set repeats with period p_d along every axis d, it is a box exactly if it is one on
   the first 2 p_d positions of each axis.

   Proof: along an axis that is cut, two periods that hold a whole interval of valid positions, and any at all, hold
         nothing else: some i and i + p are valid, so all between are, so every residue is.
   Why:  the valid points of a stack repeat along each axis of the outer view; what is left open is enumerated on the
         cut box. *)
Require Import ZArith Lia List.
From Oriel Require Import mixed_radix flat_form affine interval_box.
Import ListNotations.
Open Scope Z_scope.

Fixpoint repeats (e P : list Z) (V : list Z -> Prop) : Prop :=
  match e, P with
  | [], [] => True
  | s :: e, p :: P =>
    p > 0 /\ (forall i x, 0 <= i -> i + p < s -> box e x -> (V (i + p :: x) <-> V (i :: x))) /\
    (forall i, 0 <= i < s -> repeats e P (fun x => V (i :: x)))
  | _, _ => False
  end.

Fixpoint cut2 (e P : list Z) : list Z :=
  match e, P with
  | s :: e, p :: P => Z.min s (2 * p) :: cut2 e P
  | _, _ => []
  end.

Lemma repeats_nothing e : forall P V, repeats e P V -> repeats e P (fun _ => False).
Proof.
  induction e as [|s e IH]; intros [|p P] V H; simpl in *; try easy.
  destruct H as (Hp & _ & R). repeat split; auto; try tauto. intros i Hi. apply (IH P _ (R i Hi)).
Qed.

(* ---- one axis *)

Section Axis.
Variables (s p : Z) (U : Z -> Prop).
Hypotheses (Hp : p > 0) (Step : forall i, 0 <= i -> i + p < s -> (U (i + p) <-> U i)).

Lemma repeats_many q : 0 <= q -> forall i, 0 <= i -> i + q * p < s -> (U (i + q * p) <-> U i).
Proof.
  revert q. apply (natlike_ind (fun q => forall i, 0 <= i -> i + q * p < s -> (U (i + q * p) <-> U i))).
  - intros i Hi _. rewrite Z.mul_0_l, Z.add_0_r. tauto.
  - intros q Hq IH i Hi Hs. replace (i + Z.succ q * p) with (i + q * p + p) in * by ring.
    rewrite Step by nia. apply IH; auto. lia.
Qed.

Definition first_copy (i : Z) : Z := if i <? 2 * p then i else i mod p.

Lemma first_copy_spec i : 0 <= i < s -> 0 <= first_copy i < Z.min s (2 * p) /\ (U i <-> U (first_copy i)).
Proof.
  intro Hi. unfold first_copy. destruct (Z.ltb_spec i (2 * p)) as [L|L]; [split; [lia | tauto]|].
  pose proof (Z.div_mod i p ltac:(lia)) as D. pose proof (Z.mod_pos_bound i p ltac:(lia)) as M.
  assert (0 <= i / p) by (apply Z.div_pos; lia). split; [nia|].
  replace i with (i mod p + i / p * p) at 1 by lia. apply repeats_many; auto; lia.
Qed.

Lemma two_periods_full a b : 2 * p < s -> 0 <= a -> a < b -> b <= 2 * p ->
  (forall i, 0 <= i < 2 * p -> (U i <-> a <= i < b)) -> a = 0 /\ b = 2 * p.
Proof.
  intros Long Ha Hab Hb H.
  assert (Pair : exists i, 0 <= i < p /\ U i /\ U (i + p)).
  { destruct (Z_lt_dec a p) as [L|L].
    - exists a. split; [lia|]. assert (U a) by (apply H; lia). split; auto. apply Step; auto; lia.
    - exists (a - p). split; [lia|]. assert (X : U (a - p + p)) by (apply H; lia). split; auto.
      apply (Step (a - p)); auto; lia. }
  destruct Pair as (i & Hi & U1 & U2). apply H in U1; [|lia]. apply H in U2; [|lia].
  assert (Up : U (0 + p)) by (apply H; lia). apply (Step 0) in Up; [|lia..]. apply H in Up; [|lia].
  assert (Uq : U (p - 1)) by (apply H; lia). apply (Step (p - 1)) in Uq; [|lia..]. apply H in Uq; lia.
Qed.
End Axis.

(* ---- all axes *)

Lemma slice e s p P V i x : repeats (s :: e) (p :: P) V -> 0 <= i < s -> box e x ->
  0 <= first_copy p i < Z.min s (2 * p) /\ (V (i :: x) <-> V (first_copy p i :: x)).
Proof. intros (Hp & Step & _) Hi B. apply (first_copy_spec s p (fun j => V (j :: x))); auto. Qed.

(* sets that repeat alike and agree on the cut box agree *)
Lemma cut2_determines e : forall P V U, repeats e P V -> repeats e P U ->
  (forall x, box (cut2 e P) x -> (V x <-> U x)) -> forall x, box e x -> (V x <-> U x).
Proof.
  induction e as [|s e IH]; intros [|p P] V U RV RU H; try easy.
  intros [|i x] B; [contradiction|]. destruct B as [Hi B].
  destruct (slice e s p P V i x RV Hi B) as [Hc ->]. destruct (slice e s p P U i x RU Hi B) as [_ ->].
  destruct RV as (_ & _ & RV). destruct RU as (_ & _ & RU). set (c := first_copy p i) in *.
  apply (IH P (fun y => V (c :: y)) (fun y => U (c :: y))); auto; try (apply RV || apply RU; lia).
  intros y By. apply H. simpl. auto.
Qed.

Lemma inhabited_or_empty e m : proper e m -> (exists x, box e x /\ within m x) \/ (forall x, ~ within m x).
Proof.
  induction 1 as [|s [a b] e m H P IH]; [left; exists []; simpl; auto|].
  simpl in H. destruct (Z_lt_dec a b) as [L|L].
  - destruct IH as [(x & B & W)|No]; [left; exists (a :: x); simpl; auto with zarith|].
    right. intros [|i x]; simpl; [tauto|]. intros [_ W]. apply (No x W).
  - right. intros [|i x]; simpl; [tauto|]. lia.
Qed.

Lemma empty_box e s : positive (s :: e) -> proper (s :: e) ((0, 0) :: everything e).
Proof. intro H. inversion H; subst. constructor; [simpl; lia | apply everything_proper; auto]. Qed.

Lemma cut2_extends e : positive e -> forall P V, repeats e P V -> is_box (cut2 e P) V -> is_box e V.
Proof.
  induction 1 as [|s e Hs He IH]; intros [|p P] V RV; try easy. intros (m & Pm & H). cbn [cut2] in Pm, H.
  inversion Pm as [|? [a b] ? m1 Hab Pm1]; subst. clear Pm.
  change (0 <= a <= b /\ b <= Z.min s (2 * p)) in Hab.
  pose proof RV as (Hp & Step & Rest). pose proof (empty_box e s ltac:(constructor; auto)) as Pempty.
  assert (On : forall i, 0 <= i < Z.min s (2 * p) -> forall x, box (cut2 e P) x ->
    (V (i :: x) <-> a <= i < b /\ within m1 x)).
  { intros i Hi x B. apply (H (i :: x)). simpl. auto. }
  (* rows outside [a, b) hold nothing, also beyond the cut of the other axes *)
  assert (Off : forall i, 0 <= i < Z.min s (2 * p) -> ~ a <= i < b -> forall x, box e x -> ~ V (i :: x)).
  { intros i Hi Out x B. pose proof (Rest i ltac:(lia)) as R.
    refine (proj1 (cut2_determines e P (fun y => V (i :: y)) (fun _ => False) R (repeats_nothing _ _ _ R) _ x B)).
    intros y By. rewrite (On i Hi y By). tauto. }
  assert (Nothing : (forall i, 0 <= i < Z.min s (2 * p) -> forall x, box e x -> ~ V (i :: x)) -> is_box (s :: e) V).
  { intro No. exists ((0, 0) :: everything e). split; auto. intros [|i x] B; [contradiction|]. destruct B as [Hi B].
    destruct (slice e s p P V i x RV Hi B) as [Hc ->]. simpl. pose proof (No _ Hc x B). split; [contradiction | lia]. }
  destruct (Z_lt_dec a b) as [L|L]; [|apply Nothing; intros i Hi; apply Off; auto; lia].
  destruct (IH P (fun x => V (a :: x)) (Rest a ltac:(lia))) as (m' & Pm' & M).
  { exists m1. split; auto. intros x B. rewrite (On a ltac:(lia) x B). intuition lia. }
  assert (Rows : forall i, 0 <= i < Z.min s (2 * p) -> forall x, box e x -> (V (i :: x) <-> a <= i < b /\ within m' x)).
  { intros i Hi x B. destruct (Z_le_dec a i), (Z_lt_dec i b); try (pose proof (Off i Hi ltac:(lia) x B); intuition lia).
    rewrite <- (M x B). enough (V (i :: x) <-> V (a :: x)) by intuition lia.
    apply (cut2_determines e P (fun y => V (i :: y)) (fun y => V (a :: y))); auto; try (apply Rest; lia).
    intros y By. rewrite (On i Hi y By), (On a ltac:(lia) y By). intuition lia. }
  destruct (Z.le_gt_cases s (2 * p)) as [Short|Long].
  { exists ((a, b) :: m'). split; [constructor; auto; simpl; lia|]. intros [|i x] B; [contradiction|].
    apply Rows; simpl in B; intuition lia. }
  destruct (inhabited_or_empty e m' Pm') as [(x0 & B0 & W0)|No].
  2: { apply Nothing. intros i Hi x B V0. apply (Rows i Hi x B) in V0. apply (No x). tauto. }
  destruct (two_periods_full s p (fun i => V (i :: x0)) Hp) with (a := a) (b := b) as [-> ->]; auto; try lia.
  { intros i Hi. rewrite (Rows i ltac:(lia) x0 B0). tauto. }
  exists ((0, s) :: m'). split; [constructor; auto; simpl; lia|]. intros [|i x] B; [contradiction|].
  destruct B as [Hi B].
  destruct (slice e s p P V i x RV Hi B) as [Hc ->]. rewrite (Rows _ Hc x B). cbn [within]. intuition lia.
Qed.

Lemma cut2_restricts e : forall P V, length P = length e -> Forall (fun p => p > 0) P ->
  is_box e V -> is_box (cut2 e P) V.
Proof.
  intros P V L HP (m & Pm & H).
  enough (C : exists m', proper (cut2 e P) m' /\ forall x, box (cut2 e P) x -> box e x /\ (within m x <-> within m' x)).
  { destruct C as (m' & Pm' & C). exists m'. split; auto. intros x B. destruct (C x B) as [B' W]. rewrite (H x B').
    exact W. }
  clear H. revert P L HP. induction Pm as [|s [a b] e m Hab Pm IH]; intros [|p P] L HP; simpl in L; try discriminate.
  { exists []. split; [constructor|]. intros [|? ?]; simpl; tauto. }
  inversion HP; subst. destruct (IH P ltac:(lia)) as (m' & Pm' & C); auto. simpl in Hab.
  exists ((Z.min a (Z.min s (2 * p)), Z.min b (Z.min s (2 * p))) :: m'). split.
  { constructor; auto. cbn [fst snd]. lia. }
  intros [|i x] B; [contradiction|]. destruct B as [Hi B]. destruct (C x B) as [B' W]. cbn [box within]. rewrite W.
  intuition lia.
Qed.

Theorem period_box_iff e P V : positive e -> repeats e P V -> (is_box (cut2 e P) V <-> is_box e V).
Proof.
  intros He R. split; [apply cut2_extends; auto|]. apply cut2_restricts.
  - revert P V R. induction He as [|s e Hs He IH]; intros [|p P] V R; simpl in *; try easy.
    f_equal. apply (IH P _ (proj2 (proj2 R) 0 ltac:(lia))).
  - revert P V R. induction He as [|s e Hs He IH]; intros [|p P] V R; try easy. constructor; [apply R|].
    apply (IH P _ (proj2 (proj2 R) 0 ltac:(lia))).
Qed.

(* ---- the valid set of a stack is such a set *)

Lemma repeats_ext e : forall P V U, (forall x, V x <-> U x) -> repeats e P V -> repeats e P U.
Proof.
  induction e as [|s e IH]; intros [|p P] V U E H; simpl in *; try easy.
  destruct H as (Hp & Step & R). split; [auto | split].
  - intros i x Hi Hs B. rewrite <- !E. apply Step; auto.
  - intros i Hi. apply (IH P (fun x => V (i :: x))); auto.
Qed.

Definition mask_periods (C : list constraint) (T P : list Z) :=
  Forall2 (fun t p => p > 0 /\ Forall (fun c => 0 < modulus c /\ (modulus c | t * p)) C) T P.

Theorem constraints_repeat C T P : mask_periods C T P -> forall e O, length e = length T ->
  repeats e P (fun x => Forall (holds (O + dot T x)) C).
Proof.
  induction 1 as [|t p T P [Hp HC] _ IH]; intros [|s e] O E; simpl in E; try discriminate; simpl; auto.
  split; [auto | split].
  - intros i x _ _ _. rewrite !Forall_forall. rewrite Forall_forall in HC.
    assert (Same : forall c, In c C -> (holds (O + (t * (i + p) + dot T x)) c <-> holds (O + (t * i + dot T x)) c)).
    { intros c Hc. destruct (HC c Hc) as [HM [m Em]]. unfold holds.
      replace (O + (t * (i + p) + dot T x)) with (O + (t * i + dot T x) + m * modulus c) by (rewrite <- Em; ring).
      rewrite Z.mod_add by lia. tauto. }
    split; intros H c Hc; apply (Same c Hc), H, Hc.
  - intros i _. apply (repeats_ext e P (fun x => Forall (holds (O + t * i + dot T x)) C)).
    + intro x. replace (O + t * i + dot T x) with (O + (t * i + dot T x)) by ring. tauto.
    + apply IH. lia.
Qed.

Corollary constraints_reduction C T P e O : positive e -> length e = length T -> mask_periods C T P ->
  (is_box (cut2 e P) (fun x => Forall (holds (O + dot T x)) C) <-> is_box e (fun x => Forall (holds (O + dot T x)) C)).
Proof. intros He E H. apply period_box_iff; auto. apply constraints_repeat; auto. Qed.
