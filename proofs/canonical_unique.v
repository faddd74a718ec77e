(* Theorem U, uniqueness: two canonical views with the same element count that are the same partial map are equal.

   Canonical: no axis of extent 1; no two neighbours that could be one axis (`apart`); the innermost axis has stride 0
   if only one of its positions is valid.

   Proof: the least valid flat index is the same for both. From there on a canonical view whose innermost axis is
   (s, t, [lo, hi)) is valid and steps by t for hi - lo flat indices, is invalid up to step s, and is valid again at
   step s, after a gap or off the line, since its neighbour is apart. So s, hi - lo, lo and t can be read off the map.
   Divide by s and repeat.
   Why: equality of maps becomes equality of data, which can be compared and hashed; canonicalize.v has the other
   half. *)
Require Import ZArith Lia List Bool.
From Oriel Require Import mixed_radix masked_view.
Import ListNotations.
Open Scope Z_scope.

Definition range (a : axis) := hi a - lo a.
Definition block (a : axis) := 2 <= extent a /\ 0 <= lo a < hi a /\ hi a <= extent a.

(* b, outside a, stays an axis of its own: more than one position, and it does not continue a *)
Definition apart (a b : axis) := 2 <= range b /\ (stride b <> extent a * stride a \/ range a < extent a).

Fixpoint separate (l : list axis) : Prop :=
  match l with
  | [] => True
  | a :: r => block a /\ match r with [] => True | b :: _ => apart a b end /\ separate r
  end.
Definition normal (l : list axis) :=
  match l with
  | [] => True
  | a :: _ => range a = 1 -> stride a = 0
  end.
Definition canonical (l : list axis) := separate l /\ normal l.

Definition same (o1 o2 : Z) (l1 l2 : list axis) := forall n, 0 <= n < numel l1 -> at_flat o1 l1 n = at_flat o2 l2 n.

Lemma separate_ok l : separate l -> Forall ok l.
Proof.
  induction l as [|a l IH]; simpl; constructor; [|apply IH; tauto]. destruct H as ((A & B & C) & _). unfold ok. lia.
Qed.

Lemma separate_positive l : separate l -> 1 <= numel l.
Proof. intro H. apply numel_positive, separate_ok, H. Qed.

Lemma tail_normal a r : separate (a :: r) -> normal r.
Proof. destruct r as [|b r]; simpl; auto. intros (_ & [H _] & _). lia. Qed.

(* ---- the least valid flat index *)

Fixpoint first (l : list axis) : Z :=
  match l with
  | [] => 0
  | a :: l => extent a * first l + lo a
  end.

Lemma first_range l : separate l -> 0 <= first l < numel l.
Proof. induction l as [|a l IH]; simpl; [lia|]. intros ((A & B & C) & _ & H). specialize (IH H). nia. Qed.

Lemma first_valid o l : separate l -> exists v, at_flat o l (first l) = Some v.
Proof.
  induction l as [|a l IH]; [simpl; eauto|]. intros ((A & B & C) & _ & H). destruct (IH H) as [v E].
  simpl first. rewrite at_flat_digit, valid_true, E by lia. simpl. eauto.
Qed.

Lemma first_least o l : separate l -> forall n, 0 <= n < first l -> at_flat o l n = None.
Proof.
  induction l as [|a l IH]; simpl first; [lia|]. intros ((A & B & C) & _ & H) n Hn.
  rewrite <- (ravel_unravel n (extent a)) in * by lia.
  pose proof (Z.mod_pos_bound n (extent a) ltac:(lia)) as M.
  assert (0 <= n / extent a) by (apply Z.div_pos; pose proof (Z.div_mod n (extent a)); lia).
  set (q := n / extent a) in *. set (j := n mod extent a) in *.
  rewrite at_flat_digit by lia. destruct (valid a j) eqn:V; auto. apply valid_iff in V.
  rewrite IH; auto. nia.
Qed.

Lemma same_first o1 o2 l1 l2 : separate l1 -> separate l2 -> numel l1 = numel l2 -> same o1 o2 l1 l2 ->
  first l1 = first l2.
Proof.
  intros C1 C2 E H. destruct (first_valid o1 l1 C1) as [v V]. destruct (first_valid o2 l2 C2) as [w W].
  pose proof (first_range l1 C1). pose proof (first_range l2 C2).
  destruct (Ztrichotomy (first l1) (first l2)) as [L|[L|L]]; auto; exfalso.
  - rewrite H, first_least in V by (auto; lia). discriminate.
  - rewrite <- H, first_least in W by (auto; lia). discriminate.
Qed.

(* ---- what follows the least valid flat index *)

Section After_first.
Variables (o : Z) (a : axis) (r : list axis).
Hypothesis C : separate (a :: r).

Lemma run v k : at_flat o r (first r) = Some v -> 0 <= k < range a ->
  at_flat o (a :: r) (first (a :: r) + k) = Some (stride a * (lo a + k) + v) /\ first (a :: r) + k < numel (a :: r).
Proof.
  unfold range. pose proof C as ((A & B & D) & _ & C'). intros E Hk. split.
  - simpl first. replace (extent a * first r + lo a + k) with (extent a * first r + (lo a + k)) by lia.
    rewrite at_flat_digit, valid_true, E by lia. reflexivity.
  - simpl. pose proof (first_range r C'). nia.
Qed.

Lemma gap k : range a <= k < extent a -> at_flat o (a :: r) (first (a :: r) + k) = None.
Proof.
  unfold range. pose proof C as ((A & B & D) & _ & C'). intro Hk. simpl first.
  destruct (Z_lt_dec (lo a + k) (extent a)).
  - replace (extent a * first r + lo a + k) with (extent a * first r + (lo a + k)) by lia.
    rewrite at_flat_digit, valid_false by lia. reflexivity.
  - replace (extent a * first r + lo a + k) with (extent a * (first r + 1) + (lo a + k - extent a)) by lia.
    rewrite at_flat_digit, valid_false by lia. reflexivity.
Qed.
End After_first.

Lemma again o a b r v : separate (a :: b :: r) -> at_flat o (b :: r) (first (b :: r)) = Some v ->
  at_flat o (a :: b :: r) (first (a :: b :: r) + extent a) = Some (stride a * lo a + stride b + v) /\
  first (a :: b :: r) + extent a < numel (a :: b :: r).
Proof.
  intros (W & [Ha _] & C) E. pose proof W as (A & B & D).
  destruct (first_valid o r ltac:(apply C)) as [u U].
  destruct (run o b r C u 0 U ltac:(lia)) as [R0 _]. destruct (run o b r C u 1 U ltac:(lia)) as [R1 S1].
  rewrite Z.add_0_r in R0. rewrite R0 in E. injection E as <-. split.
  - change (first (a :: b :: r)) with (extent a * first (b :: r) + lo a).
    replace (extent a * first (b :: r) + lo a + extent a) with (extent a * (first (b :: r) + 1) + lo a) by lia.
    rewrite at_flat_digit, valid_true, R1 by lia. simpl. f_equal. lia.
  - change (first (a :: b :: r)) with (extent a * first (b :: r) + lo a).
    change (numel (a :: b :: r)) with (extent a * numel (b :: r)). nia.
Qed.

(* ---- reading the innermost axis off the map *)

Section Innermost.
Variables (o1 o2 : Z) (a1 a2 : axis) (r1 r2 : list axis).
Hypothesis C1 : separate (a1 :: r1).
Hypothesis C2 : separate (a2 :: r2).
Hypothesis E : numel (a1 :: r1) = numel (a2 :: r2).
Hypothesis H : same o1 o2 (a1 :: r1) (a2 :: r2).

Lemma follow k : 0 <= k -> first (a2 :: r2) + k < numel (a2 :: r2) ->
  at_flat o1 (a1 :: r1) (first (a1 :: r1) + k) = at_flat o2 (a2 :: r2) (first (a2 :: r2) + k).
Proof.
  intros Hk S. pose proof (same_first _ _ _ _ C1 C2 E H) as FE. pose proof (first_range _ C1).
  rewrite <- FE in *. apply H. lia.
Qed.

(* a run of valid positions does not end earlier on one side, unless its axis is full *)
Lemma range_not_less : range a1 < extent a1 -> ~ range a1 < range a2.
Proof.
  intros G L. pose proof C1 as ((A1 & B1 & D1) & _). pose proof C2 as ((A2 & B2 & D2) & _ & C2').
  destruct (first_valid o2 r2 C2') as [v V].
  destruct (run o2 a2 r2 C2 v (range a1) V ltac:(unfold range in *; lia)) as [R S].
  rewrite <- follow, gap in R by (auto; unfold range in *; lia). discriminate.
Qed.

End Innermost.

Lemma extent_not_less o1 o2 a1 a2 r1 r2 : separate (a1 :: r1) -> separate (a2 :: r2) ->
  numel (a1 :: r1) = numel (a2 :: r2) -> same o1 o2 (a1 :: r1) (a2 :: r2) -> ~ extent a1 < extent a2.
Proof.
  intros C1 C2 E H L. pose proof (follow _ _ _ _ _ _ C1 C2 E H) as Follow.
  pose proof C1 as ((A1 & B1 & D1) & N1 & C1'). pose proof C2 as ((A2 & B2 & D2) & _ & C2').
  pose proof (same_first _ _ _ _ C1 C2 E H) as FE.
  destruct (first_valid o1 r1 C1') as [v1 V1]. destruct (first_valid o2 r2 C2') as [v2 V2].
  destruct r1 as [|b r]; [pose proof (separate_positive r2 C2'); simpl in E; nia|].
  destruct (again o1 a1 b r v1 C1 V1) as [Again Inside].
  assert (Inside2 : first (a2 :: r2) + extent a1 < numel (a2 :: r2)) by lia.
  (* at step `extent a1` the second view is still within its first run *)
  assert (K : extent a1 < range a2).
  { destruct (Z_lt_dec (extent a1) (range a2)); auto.
    rewrite Follow, gap in Again by (auto; lia). discriminate. }
  rewrite Follow in Again by lia.
  destruct (run o2 a2 r2 C2 v2 (extent a1) V2 ltac:(lia)) as [Line _]. rewrite Line in Again.
  (* so the first view has no gap and goes on in a line where its innermost axis ends: its neighbour is not apart *)
  assert (Full : range a1 = extent a1).
  { destruct (Z.eq_dec (range a1) (extent a1)); auto. exfalso.
    apply (range_not_less _ _ _ _ _ _ C1 C2 E H); unfold range in *; lia. }
  destruct (run o1 a1 (b :: r) C1 v1 0 V1 ltac:(lia)) as [P0 _].
  destruct (run o1 a1 (b :: r) C1 v1 1 V1 ltac:(lia)) as [P1 _].
  destruct (run o2 a2 r2 C2 v2 0 V2 ltac:(lia)) as [Q0 S0]. destruct (run o2 a2 r2 C2 v2 1 V2 ltac:(lia)) as [Q1 S1].
  rewrite Follow, Q0 in P0 by lia. rewrite Follow, Q1 in P1 by lia.
  injection Again as Again. injection P0 as P0. injection P1 as P1.
  destruct N1 as [_ [N1|N1]]; [apply N1 | lia].
  assert (stride a1 = stride a2) by lia. nia.
Qed.
Lemma same_sym o1 o2 l1 l2 : numel l1 = numel l2 -> same o1 o2 l1 l2 -> same o2 o1 l2 l1.
Proof. intros E H n Hn. symmetry. apply H. lia. Qed.

Lemma innermost_equal o1 o2 a1 a2 r1 r2 : canonical (a1 :: r1) -> canonical (a2 :: r2) ->
  numel (a1 :: r1) = numel (a2 :: r2) -> same o1 o2 (a1 :: r1) (a2 :: r2) -> a1 = a2.
Proof.
  intros [C1 M1] [C2 M2] E H. pose proof (same_sym _ _ _ _ E H) as H'.
  pose proof C1 as ((A1 & B1 & D1) & N1 & C1'). pose proof C2 as ((A2 & B2 & D2) & N2 & C2').
  assert (X : extent a1 = extent a2).
  { pose proof (extent_not_less _ _ _ _ _ _ C1 C2 E H).
    pose proof (extent_not_less _ _ _ _ _ _ C2 C1 (eq_sym E) H'). lia. }
  assert (G : range a1 = range a2).
  { pose proof (range_not_less _ _ _ _ _ _ C1 C2 E H).
    pose proof (range_not_less _ _ _ _ _ _ C2 C1 (eq_sym E) H'). unfold range in *. lia. }
  pose proof (same_first _ _ _ _ C1 C2 E H) as FE.
  assert (L : lo a1 = lo a2).
  { simpl in FE. rewrite X in FE. apply (f_equal (fun z => z mod extent a2)) in FE.
    destruct (unravel_ravel (first r1) (lo a1) (extent a2) ltac:(lia)) as [_ Y1].
    destruct (unravel_ravel (first r2) (lo a2) (extent a2) ltac:(lia)) as [_ Y2]. lia. }
  assert (T : stride a1 = stride a2).
  { destruct (Z.eq_dec (range a1) 1) as [One|More]; [simpl in M1, M2; rewrite M1, M2 by lia; auto|].
    destruct (first_valid o1 r1 C1') as [v1 V1]. destruct (first_valid o2 r2 C2') as [v2 V2].
    assert (2 <= range a1) by (unfold range in *; lia).
    destruct (run o1 a1 r1 C1 v1 0 V1 ltac:(lia)) as [P0 _]. destruct (run o1 a1 r1 C1 v1 1 V1 ltac:(lia)) as [P1 _].
    destruct (run o2 a2 r2 C2 v2 0 V2 ltac:(lia)) as [Q0 S0]. destruct (run o2 a2 r2 C2 v2 1 V2 ltac:(lia)) as [Q1 S1].
    rewrite (follow _ _ _ _ _ _ C1 C2 E H), Q0 in P0 by lia. rewrite (follow _ _ _ _ _ _ C1 C2 E H), Q1 in P1 by lia.
    injection P0 as P0. injection P1 as P1. rewrite L in *. lia. }
  unfold range in G. destruct a1, a2; simpl in *. f_equal; lia.
Qed.

Theorem canonical_unique l1 : forall l2 o1 o2, canonical l1 -> canonical l2 -> numel l1 = numel l2 ->
  same o1 o2 l1 l2 -> l1 = l2 /\ o1 = o2.
Proof.
  induction l1 as [|a1 r1 IH]; intros [|a2 r2] o1 o2 C1 C2 E H.
  - split; auto. specialize (H 0 ltac:(simpl; lia)). simpl in H. injection H as H. exact H.
  - destruct C2 as [((A & _) & _ & C) _]. pose proof (separate_positive r2 C). simpl in E. nia.
  - destruct C1 as [((A & _) & _ & C) _]. pose proof (separate_positive r1 C). simpl in E. nia.
  - pose proof (innermost_equal _ _ _ _ _ _ C1 C2 E H) as <-.
    destruct C1 as [C1 _], C2 as [C2 _]. pose proof C1 as ((A & B & D) & _ & C1'). pose proof C2 as (_ & _ & C2').
    destruct (IH r2 o1 o2) as [<- <-]; auto.
    + split; [auto | apply (tail_normal a1), C1].
    + split; [auto | apply (tail_normal a1), C2].
    + simpl in E. nia.
    + intros q Hq. assert (X := H (extent a1 * q + lo a1) ltac:(simpl; nia)).
      rewrite !at_flat_digit, valid_true in X by lia.
      destruct (at_flat o1 r1 q), (at_flat o2 r2 q); simpl in X; try discriminate; auto. injection X as X. f_equal. lia.
Qed.
