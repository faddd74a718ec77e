(* Theorem U, existence: a function that computes the canonical form, and equality of maps decided by it.

   What: `canonicalize` walks from the innermost axis outwards and joins each axis to the block below where that leaves
         the map unchanged: an axis with one valid position always (its stride is free), any other where the block below
         is full and its stride continues. The engine does the same steps in the same order (split_blocks in
         engine/view/canonical.cpp).
   Why:  with canonical_unique, "the same partial map" is decided by comparing two lists (same_map_decided). *)
Require Import ZArith Lia List Bool.
From Oriel Require Import mixed_radix masked_view canonical_unique.
Import ListNotations.
Open Scope Z_scope.

(* ---- three steps that leave the map unchanged *)

Lemma drop_unit o a l n : ok a -> extent a = 1 -> at_flat o (a :: l) n = at_flat o l n.
Proof.
  intros (A & B & C) E. simpl. rewrite E, Z.mod_1_r, Z.div_1_r, valid_true by lia. rewrite Z.mul_0_r. apply plus_zero.
Qed.

Definition joined_full (b a : axis) := Axis (extent b * extent a) (stride b) (lo a * extent b) (hi a * extent b).
Definition joined_fixed (b a : axis) :=
  Axis (extent b * extent a) (stride b) (lo a * extent b + lo b) (lo a * extent b + hi b).

Lemma join_full o b a l n : sized b -> sized a -> lo b = 0 -> hi b = extent b -> stride a = extent b * stride b ->
  at_flat o (b :: a :: l) n = at_flat o (joined_full b a :: l) n.
Proof.
  intros (A & B & C) (A' & B' & C') L H S. simpl.
  destruct (two_digits n (extent b) (extent a) ltac:(lia) ltac:(lia)) as [-> ->].
  pose proof (Z.mod_pos_bound n (extent b) ltac:(lia)).
  pose proof (Z.mod_pos_bound (n / extent b) (extent a) ltac:(lia)).
  set (j := n mod extent b) in *. set (i := (n / extent b) mod extent a) in *.
  rewrite (valid_true b j) by lia. destruct (valid a i) eqn:V.
  - apply valid_iff in V. rewrite valid_true by (simpl; nia). rewrite plus_plus, S. f_equal. ring.
  - rewrite valid_false; auto. intro W. simpl in W. enough (valid a i = true) by congruence. apply valid_true. nia.
Qed.

Lemma join_fixed o b a l n : sized b -> sized a -> range a = 1 ->
  at_flat o (b :: a :: l) n = at_flat (o + (stride a - extent b * stride b) * lo a) (joined_fixed b a :: l) n.
Proof.
  unfold range. intros (A & B & C) (A' & B' & C') R. rewrite plus_offset. simpl.
  destruct (two_digits n (extent b) (extent a) ltac:(lia) ltac:(lia)) as [-> ->].
  pose proof (Z.mod_pos_bound n (extent b) ltac:(lia)).
  pose proof (Z.mod_pos_bound (n / extent b) (extent a) ltac:(lia)).
  set (j := n mod extent b) in *. set (i := (n / extent b) mod extent a) in *.
  destruct (valid b j) eqn:V.
  - apply valid_iff in V. destruct (valid a i) eqn:U.
    + apply valid_iff in U. rewrite valid_true by (simpl; nia). rewrite !plus_plus. replace i with (lo a) by lia.
      f_equal. ring.
    + rewrite valid_false; auto. intro W. simpl in W. enough (valid a i = true) by congruence. apply valid_true. nia.
  - rewrite valid_false; auto. intro W. simpl in W. enough (valid b j = true) by congruence. apply valid_true.
    assert (i = lo a) by nia. nia.
Qed.

Lemma forget_stride o a l n : range a = 1 ->
  at_flat o (a :: l) n = at_flat (o + stride a * lo a) (Axis (extent a) 0 (lo a) (hi a) :: l) n.
Proof.
  unfold range. intro R. rewrite plus_offset. simpl. set (j := n mod extent a).
  change (valid (Axis (extent a) 0 (lo a) (hi a)) j) with (valid a j).
  destruct (valid a j) eqn:V; auto. apply valid_iff in V. rewrite plus_plus. f_equal. replace j with (lo a) by lia.
  ring.
Qed.

(* ---- the fold *)

Definition full (b : axis) : bool := (lo b =? 0) && (hi b =? extent b).

Fixpoint join (o : Z) (b : axis) (l : list axis) : Z * list axis :=       (* b: the block below *)
  match l with
  | [] => (o, [b])
  | a :: l =>
    if extent a =? 1 then join o b l
    else if range a =? 1 then join (o + (stride a - extent b * stride b) * lo a) (joined_fixed b a) l
    else if full b && (stride a =? extent b * stride b) then join o (joined_full b a) l
    else let (o', l') := join o a l in (o', b :: l')
  end.

Fixpoint canonicalize (o : Z) (l : list axis) : Z * list axis :=
  match l with
  | [] => (o, [])
  | a :: l =>
    if extent a =? 1 then canonicalize o l
    else if range a =? 1 then join (o + stride a * lo a) (Axis (extent a) 0 (lo a) (hi a)) l
    else join o a l
  end.

(* l', with offset o', is a form of (o, b :: l) whose innermost block has grown out of b *)
Definition grown (o : Z) (b : axis) (l : list axis) (o' : Z) (l' : list axis) :=
  separate l' /\ numel l' = extent b * numel l /\ (forall n, at_flat o (b :: l) n = at_flat o' l' n) /\
  exists h r, l' = h :: r /\ stride h = stride b /\ range b <= range h.

Lemma block_ok a : block a -> ok a.
Proof. intros (A & B & C). unfold ok. lia. Qed.

Lemma join_spec l : Forall ok l -> forall o b, block b -> grown o b l (fst (join o b l)) (snd (join o b l)).
Proof.
  induction 1 as [|a l Ha Hl IH]; intros o b Hb; pose proof (block_ok b Hb) as Kb.
  { simpl. repeat split; simpl; auto; try apply Hb. exists b, []. repeat split. lia. }
  pose proof Ha as (A' & B' & C'). pose proof Hb as (A & B & C). simpl join.
  destruct (Z.eqb_spec (extent a) 1) as [U|U].
  { destruct (IH o b Hb) as (S & N & M & G). repeat split; auto.
    - rewrite N. simpl. rewrite U. ring.
    - intro n. rewrite <- M. simpl. destruct (valid b _); auto. f_equal. apply (drop_unit o a l _ Ha U). }
  assert (Ka : block a) by (unfold block; lia).
  destruct (Z.eqb_spec (range a) 1) as [R|R].
  { assert (K : block (joined_fixed b a)) by (unfold block, range in *; simpl; nia).
    destruct (IH (o + (stride a - extent b * stride b) * lo a) _ K) as (S & N & M & (h & r & E & T & G)).
    repeat split; auto.
    - rewrite N. simpl. ring.
    - intro n. rewrite <- M. apply join_fixed; auto using ok_sized.
    - exists h, r. repeat split; auto. unfold range in *. simpl in G. lia. }
  assert (R2 : 2 <= range a) by (unfold range in *; lia).
  destruct (full b && (stride a =? extent b * stride b)) eqn:J.
  { unfold full in J. rewrite !andb_true_iff, !Z.eqb_eq in J. destruct J as [[L H] T].
    assert (K : block (joined_full b a)) by (unfold block, range in *; simpl; nia).
    destruct (IH o _ K) as (S & N & M & (h & r & E & T' & G)). repeat split; auto.
    - rewrite N. simpl. ring.
    - intro n. rewrite <- M. apply join_full; auto using ok_sized.
    - exists h, r. repeat split; auto. unfold range in *. simpl in G. nia. }
  destruct (IH o a Ka) as (S & N & M & (h & r & E & T & G)).
  destruct (join o a l) as [o' l']. cbn [fst snd] in *. subst l'.
  split; [split; [exact Hb | split; [split; [lia|] | exact S]] | split; [|split]].
  - destruct (Z.eq_dec (range b) (extent b)) as [F|F]; [left | right; unfold range in *; lia].
    intro X. rewrite T in X. enough (full b && (stride a =? extent b * stride b) = true) by congruence.
    unfold full. rewrite !andb_true_iff, !Z.eqb_eq. unfold range in F. lia.
  - change (extent b * numel (h :: r) = extent b * (extent a * numel l)). rewrite N. ring.
  - intro n. specialize (M (n / extent b)). simpl in M |- *. rewrite M. reflexivity.
  - exists b, (h :: r). repeat split. lia.
Qed.

Lemma grown_normal o b l o' l' : grown o b l o' l' -> normal [b] -> block b -> normal l'.
Proof.
  intros (_ & _ & _ & (h & r & -> & T & G)) N (A & B & C). simpl in *. intro R. rewrite T. apply N.
  unfold range in *. lia.
Qed.

Theorem canonicalize_spec l : Forall ok l -> forall o,
  let c := canonicalize o l in
  canonical (snd c) /\ numel (snd c) = numel l /\
  forall n, 0 <= n < numel l -> at_flat o l n = at_flat (fst c) (snd c) n.
Proof.
  induction 1 as [|a l Ha Hl IH]; intro o; simpl.
  { repeat split. }
  pose proof Ha as (A & B & C). destruct (Z.eqb_spec (extent a) 1) as [U|U].
  { destruct (IH o) as (K & N & M). repeat split; try apply K.
    - rewrite N, U. ring.
    - intros n Hn. rewrite U, Z.mul_1_l in Hn. rewrite <- M by auto. apply drop_unit; auto. }
  destruct (Z.eqb_spec (range a) 1) as [R|R].
  - set (b := Axis (extent a) 0 (lo a) (hi a)). assert (Kb : block b) by (unfold block; simpl; lia).
    pose proof (join_spec l Hl (o + stride a * lo a) b Kb) as G. split; [split|split].
    + apply G.
    + apply (grown_normal _ _ _ _ _ G); auto. simpl. auto.
    + destruct G as (_ & N & _). rewrite N. reflexivity.
    + destruct G as (_ & _ & M & _). intros n _. rewrite <- M. apply (forget_stride o a l n R).
  - assert (Ka : block a) by (unfold block; lia).
    pose proof (join_spec l Hl o a Ka) as G. split; [split|split].
    + apply G.
    + apply (grown_normal _ _ _ _ _ G); auto. simpl. intro. contradiction.
    + destruct G as (_ & N & _). exact N.
    + destruct G as (_ & _ & M & _). intros n _. apply M.
Qed.

Theorem canonical_form_exists o l : Forall ok l ->
  exists o' l', canonical l' /\ numel l' = numel l /\ forall n, 0 <= n < numel l -> at_flat o l n = at_flat o' l' n.
Proof.
  intro H. exists (fst (canonicalize o l)), (snd (canonicalize o l)). exact (canonicalize_spec l H o).
Qed.

Theorem same_map_decided o1 o2 l1 l2 : Forall ok l1 -> Forall ok l2 -> numel l1 = numel l2 ->
  (same o1 o2 l1 l2 <-> canonicalize o1 l1 = canonicalize o2 l2).
Proof.
  intros K1 K2 E. destruct (canonicalize_spec l1 K1 o1) as (C1 & N1 & M1).
  destruct (canonicalize_spec l2 K2 o2) as (C2 & N2 & M2). split.
  - intro H. destruct (canonical_unique _ _ (fst (canonicalize o1 l1)) (fst (canonicalize o2 l2)) C1 C2) as [L O];
      [lia| |].
    + intros n Hn. rewrite <- M1, <- M2 by lia. apply H. lia.
    + destruct (canonicalize o1 l1), (canonicalize o2 l2). simpl in L, O. congruence.
  - intros H n Hn. rewrite M1, M2, H by lia. reflexivity.
Qed.
