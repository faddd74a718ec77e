(* The maps n -> floor(n / W), for distinct W with 1 <= W < N, are linearly independent on [0, N).

   Proof: evaluate at n = W, smallest W first: every larger cut still gives 0 there.
   Why:   two carry forms are then the same map only if they have the same terms. No cancellation between terms of a
          full reshape is possible, so that no merge can happen "by accident" there. *)
Require Import ZArith Lia List Bool.
From Oriel Require Import carry_form.
Import ListNotations.
Open Scope Z_scope.

(* the cuts of L increase strictly, from above b, and stay below N *)
Inductive increasing (N : Z) : Z -> list term -> Prop :=
| increasing_nil b : increasing N b []
| increasing_cons b W c L : b < W -> W < N -> increasing N W L -> increasing N b ((W, c) :: L).

Lemma increasing_weaken N L : forall b b', increasing N b L -> b' <= b -> increasing N b' L.
Proof. intros b b' H; destruct H; constructor; auto; lia. Qed.

Lemma increasing_above N L : forall b, increasing N b L -> forall x, In x L -> b < fst x.
Proof.
  induction L as [|[W c] L IH]; intros b H x Hx; [destruct Hx|]. inversion H; subst.
  destruct Hx as [<-|Hx]; [simpl; auto|]. apply (IH W) in Hx; auto; lia.
Qed.

Lemma terms_increasing l : wf l -> forall W p b, 0 < W -> b < W -> increasing (W * size l) b (terms l W p).
Proof.
  induction 1 as [|[s t] l H Hl IH]; intros W p b HW Hb; simpl; constructor; auto; assert (Hs : 2 <= s) by exact H.
  - pose proof (size_pos l Hl). assert (2 <= s * size l) by nia. nia.
  - replace (W * (s * size l)) with (W * s * size l) by ring. apply IH; nia.
Qed.

(* ---- the terms that count *)

Definition nonzero (L : list term) := filter (fun x => negb (snd x =? 0)) L.

Lemma in_nonzero L W c : In (W, c) (nonzero L) <-> In (W, c) L /\ c <> 0.
Proof. unfold nonzero. rewrite filter_In. simpl. destruct (Z.eqb_spec c 0); simpl; intuition discriminate. Qed.

Lemma sum_nonzero L n : sum (nonzero L) n = sum L n.
Proof.
  induction L as [|[W c] L IH]; simpl; auto. destruct (Z.eqb_spec c 0) as [->|_]; simpl; rewrite IH; auto; lia.
Qed.

Lemma nonzero_increasing N L : forall b, increasing N b L -> increasing N b (nonzero L).
Proof.
  induction L as [|[W c] L IH]; intros b H; simpl; [constructor|]. inversion H; subst.
  destruct (c =? 0); simpl; [apply increasing_weaken with W; [apply IH; auto | lia] | constructor; auto].
Qed.

Lemma all_nonzero L : Forall (fun x => snd x <> 0) (nonzero L).
Proof. apply Forall_forall. intros [W c] H. apply in_nonzero in H. simpl. tauto. Qed.

(* ---- independence *)

Lemma sum_below N L : forall b n, increasing N b L -> 0 <= n <= b -> sum L n = 0.
Proof.
  induction L as [|[W c] L IH]; intros b n H Hn; simpl; auto. inversion H; subst.
  rewrite (IH W) by (auto; lia). rewrite Z.div_small by lia. lia.
Qed.

Lemma sum_at_cut N L W c b : 0 <= b -> increasing N b ((W, c) :: L) -> sum ((W, c) :: L) W = c.
Proof.
  intros Hb H. inversion H; subst. simpl. rewrite (sum_below N L W) by (auto; lia).
  rewrite Z.div_same by lia. lia.
Qed.

Theorem floors_independent N L1 : forall L2 b, 0 <= b -> increasing N b L1 -> increasing N b L2 ->
  Forall (fun x => snd x <> 0) L1 -> Forall (fun x => snd x <> 0) L2 ->
  (forall n, 0 <= n < N -> sum L1 n = sum L2 n) -> L1 = L2.
Proof.
  induction L1 as [|[W c] L1 IH]; intros [|[V d] L2] b Hb I1 I2 Z1 Z2 H; auto.
  - pose proof I2 as I2'. inversion I2'; subst. inversion Z2 as [|? ? CV]; subst. simpl in CV.
    pose proof (sum_at_cut _ _ _ _ _ Hb I2) as X. rewrite <- H in X by lia. simpl in X. lia.
  - pose proof I1 as I1'. inversion I1'; subst. inversion Z1 as [|? ? CW]; subst. simpl in CW.
    pose proof (sum_at_cut _ _ _ _ _ Hb I1) as X. rewrite H in X by lia. simpl in X. lia.
  - pose proof I1 as I1'. inversion I1' as [|? ? ? ? BW NW J1]; subst. inversion Z1 as [|? ? CW Z1']; subst.
    pose proof I2 as I2'. inversion I2' as [|? ? ? ? BV NV J2]; subst. inversion Z2 as [|? ? CV Z2']; subst.
    simpl in CW, CV.
    pose proof (sum_at_cut _ _ _ _ _ Hb I1) as XW. pose proof (sum_at_cut _ _ _ _ _ Hb I2) as XV.
    destruct (Ztrichotomy W V) as [LT|[->|GT]].
    + rewrite H, (sum_below N ((V, d) :: L2) (V - 1)) in XW by (try constructor; auto; lia). lia.
    + rewrite H, XV in XW by lia. subst d. f_equal.
      apply (IH L2 V); auto; try lia. intros n Hn. specialize (H n Hn). simpl in H. lia.
    + rewrite <- H, (sum_below N ((W, c) :: L1) (W - 1)) in XV by (try constructor; auto; lia). lia.
Qed.
