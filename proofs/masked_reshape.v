(* Theorem R with masks: which reshapes of a masked view are one view. Sound and complete.

   What: a canonical view can be read in shape R exactly if R falls into one group of digits for each of its blocks, in
         order, and each block's valid interval is a box of its digits (masked_reshape_iff; any_masked_reshape_iff for
         views that are not canonical yet).
   Proof: with such groups, the strides and masks are written down. Conversely let one view of shape R say the same. Its
         canonical form is ours, by uniqueness; and canonicalisation builds each block out of a group of axes of R, so
         that the block's interval is a box of them.
   Why:  reshape is decided in O(rank); "no" proves that no single view exists. *)
Require Import ZArith Lia List Bool.
From Oriel Require Import mixed_radix masked_view canonical_unique canonicalize interval_box.
Import ListNotations.
Open Scope Z_scope.

Fixpoint splits (l : list axis) (R : list Z) : Prop :=
  match l with
  | [] => Forall (fun r => r = 1) R
  | a :: l => exists R1 R2, R = R1 ++ R2 /\ product R1 = extent a /\ digit_box R1 (lo a) (hi a) /\ splits l R2
  end.

(* one view of shape R says what f says *)
Definition one_view (R : list Z) (f : Z -> option Z) :=
  exists o l, shape l = R /\ Forall view_axis l /\ forall x, box R x -> at_index o l x = f (ravel R x).

(* ---- groups of digits give a view *)

Fixpoint digits (R : list Z) (m : list interval) (t : Z) : list axis :=
  match R, m with
  | r :: R, (p, q) :: m => Axis r t p q :: digits R m (t * r)
  | _, _ => []
  end.

Lemma digits_shape R m : proper R m -> forall t, shape (digits R m t) = R.
Proof. induction 1 as [|r [p q] R m H _ IH]; intro t; simpl; auto. f_equal. apply IH. Qed.

Lemma digits_view R m : proper R m -> forall t, Forall view_axis (digits R m t).
Proof. induction 1 as [|r [p q] R m H _ IH]; intro t; simpl; constructor; auto. Qed.

Lemma digits_at R m : proper R m -> forall t o l x y, box R x ->
  (within m x -> at_index o (digits R m t ++ l) (x ++ y) = plus (t * ravel R x) (at_index o l y)) /\
  (~ within m x -> at_index o (digits R m t ++ l) (x ++ y) = None).
Proof.
  induction 1 as [|r [p q] R m H P IH]; intros t o l [|i x] y B; simpl in B; try contradiction.
  { simpl. split; [intros _; rewrite Z.mul_0_r, plus_zero; auto | tauto]. }
  destruct B as [Hi B]. destruct (IH (t * r) o l x y B) as [Yes No]. cbn [digits within app at_index ravel]. split.
  - intros [Hp W]. rewrite valid_true by exact Hp. rewrite (Yes W), plus_plus. simpl. f_equal. ring.
  - intro W. destruct (valid _ i) eqn:V; auto. apply valid_iff in V. simpl in V. rewrite No by tauto. reflexivity.
Qed.

Lemma splits_sound o l : forall R, splits l R ->
  exists l', shape l' = R /\ Forall view_axis l' /\ forall x, box R x -> at_index o l' x = at_flat o l (ravel R x).
Proof.
  induction l as [|a l IH]; intros R H; simpl in H.
  { exists (map (fun r => Axis r 0 0 r) R). induction H as [|r R -> H (E & K & M)]; simpl in *.
    - repeat split; auto.
    - split; [f_equal; exact E|]. split; [constructor; [unfold view_axis; simpl; lia | exact K]|].
      intros [|i x] B; [contradiction|]. destruct B as [Hi B]. rewrite valid_true by (simpl; lia).
      rewrite (M x B). reflexivity. }
  destruct H as (R1 & R2 & -> & E & (m & P & Box) & S). destruct (IH R2 S) as (l2 & E2 & K2 & M2).
  exists (digits R1 m (stride a) ++ l2). repeat split.
  - unfold shape in *. rewrite map_app. f_equal; auto. apply (digits_shape R1 m P).
  - apply Forall_app. split; auto. apply digits_view, P.
  - intros x B. destruct (box_split _ _ _ B) as (y & z & -> & By & Bz).
    rewrite ravel_app by (apply box_length, By). pose proof (ravel_range R1 y By) as Hy. rewrite E in *.
    rewrite Z.add_comm, at_flat_digit by lia. destruct (digits_at R1 m P (stride a) o l2 y z By) as [Yes No].
    destruct (valid a (ravel R1 y)) eqn:V.
    + apply valid_iff in V. rewrite Yes by (apply Box; auto). rewrite (M2 z Bz). reflexivity.
    + apply No. rewrite <- (Box y By). intro W. rewrite valid_true in V by auto. discriminate.
Qed.

(* ---- canonicalisation builds blocks out of groups of axes *)

Lemma join_splits l : Forall ok l -> forall o b R1, block b -> positive R1 -> product R1 = extent b ->
  digit_box R1 (lo b) (hi b) -> splits (snd (join o b l)) (R1 ++ shape l).
Proof.
  induction 1 as [|a l Ha Hl IH]; intros o b R1 Hb HR E Box.
  { simpl. exists R1, []. auto. }
  pose proof Ha as (A' & B' & C'). pose proof Hb as (A & B & C).
  assert (HR' : positive (R1 ++ [extent a])) by (apply Forall_app; split; auto).
  assert (E' : product (R1 ++ [extent a]) = extent b * extent a).
  { rewrite product_app, E. unfold product. cbn [fold_right]. ring. }
  replace (R1 ++ shape (a :: l)) with ((R1 ++ [extent a]) ++ shape l) by (rewrite <- app_assoc; reflexivity).
  simpl join. destruct (Z.eqb_spec (extent a) 1) as [U|U].
  { apply IH; auto; [rewrite E', U; ring|]. rewrite U.
    pose proof (digit_box_row R1 1 0 _ _ HR Box ltac:(lia) ltac:(lia) ltac:(lia)) as X.
    rewrite Z.mul_0_r in X. exact X. }
  destruct (Z.eqb_spec (range a) 1) as [F|F].
  { apply IH; auto; [unfold block, range in *; simpl; nia|]. simpl.
    pose proof (digit_box_row R1 (extent a) (lo a) _ _ HR Box ltac:(lia) ltac:(lia) ltac:(lia)) as X.
    rewrite E, (Z.mul_comm (extent b)) in X. exact X. }
  destruct (full b && (stride a =? extent b * stride b)) eqn:J.
  { unfold full in J. rewrite !andb_true_iff, !Z.eqb_eq in J.
    apply IH; auto; [unfold block, range in *; simpl; nia|]. simpl.
    pose proof (digit_box_rows R1 (extent a) (lo a) (hi a) HR ltac:(lia) ltac:(lia)) as X.
    rewrite E, !(Z.mul_comm (extent b)) in X. exact X. }
  assert (X : splits (snd (join o a l)) ([extent a] ++ shape l)).
  { apply IH; [unfold block; lia | repeat constructor; lia | unfold product; cbn [fold_right]; ring |].
    apply digit_box_single; lia. }
  destruct (join o a l) as [o' l']. simpl in X |- *. exists R1, ([extent a] ++ shape l).
  rewrite <- app_assoc. auto.
Qed.

Lemma splits_unit l R : splits l R -> splits l (1 :: R).
Proof.
  destruct l as [|a l]; simpl; [constructor; auto|]. intros (R1 & R2 & -> & E & Box & S).
  exists (1 :: R1), R2. repeat split; auto using digit_box_unit. unfold product in *. cbn [fold_right]. lia.
Qed.

Lemma canonicalize_splits l : Forall ok l -> forall o, splits (snd (canonicalize o l)) (shape l).
Proof.
  induction 1 as [|a l Ha Hl IH]; intro o; simpl; [constructor|]. pose proof Ha as (A & B & C).
  destruct (Z.eqb_spec (extent a) 1) as [->|U]; [apply splits_unit, IH|].
  assert (HR : positive [extent a]) by (repeat constructor; lia).
  assert (E : product [extent a] = extent a) by (unfold product; cbn [fold_right]; ring).
  assert (Box : digit_box [extent a] (lo a) (hi a)) by (apply digit_box_single; lia).
  destruct (Z.eqb_spec (range a) 1); apply (join_splits l Hl _ _ [extent a]); auto; unfold block; simpl; lia.
Qed.

(* ---- the criterion *)

Lemma some_valid o l : forall x v, box (shape l) x -> at_index o l x = Some v -> Forall view_axis l -> Forall ok l.
Proof.
  induction l as [|a l IH]; intros [|i x] v B H K; simpl in *; try contradiction; auto.
  destruct B as [Hi B]. inversion K as [|? ? (A & C) K']; subst.
  destruct (valid a i) eqn:V; [|discriminate]. apply valid_iff in V.
  destruct (at_index o l x) eqn:W; [|discriminate]. constructor; [unfold ok; lia | apply (IH x z); auto].
Qed.

Theorem masked_reshape_iff o l R : canonical l -> positive R -> product R = numel l ->
  (splits l R <-> one_view R (at_flat o l)).
Proof.
  intros [C N] HR E. split.
  - intro S. destruct (splits_sound o l R S) as (l' & H). exists o, l'. exact H.
  - intros (o' & l' & Sh & K & M).
    assert (At : forall n, 0 <= n < numel l -> at_flat o' l' n = at_flat o l n).
    { intros n Hn. rewrite <- E in Hn. pose proof (unravel_box R HR n Hn) as B.
      rewrite <- (ravel_unravel_index R HR n Hn), <- (M _ B). rewrite at_index_flat by (rewrite Sh; exact B).
      rewrite Sh. reflexivity. }
    assert (K' : Forall ok l').
    { destruct (first_valid o l C) as [v V]. pose proof (first_range l C) as Hf. rewrite <- E in Hf.
      pose proof (unravel_box R HR _ Hf) as B.
      apply (some_valid o' l' (unravel R (first l)) v); auto; [rewrite Sh; auto|].
      rewrite (M _ B), ravel_unravel_index by auto. exact V. }
    assert (E' : numel l' = numel l) by (rewrite numel_product, Sh; exact E).
    destruct (canonicalize_spec l' K' o') as (C' & N' & M').
    destruct (canonical_unique (snd (canonicalize o' l')) l (fst (canonicalize o' l')) o) as [<- _];
      [exact C' | split; auto | lia | |].
    + intros n Hn. rewrite <- M' by lia. apply At. lia.
    + rewrite <- Sh. apply canonicalize_splits, K'.
Qed.

Theorem any_masked_reshape_iff o l R : Forall ok l -> positive R -> product R = numel l ->
  (splits (snd (canonicalize o l)) R <-> one_view R (at_flat o l)).
Proof.
  intros K HR E. destruct (canonicalize_spec l K o) as (C & N & M).
  rewrite (masked_reshape_iff (fst (canonicalize o l)) _ R C HR) by lia.
  split; intros (o' & l' & Sh & V & H); exists o', l'; repeat split; auto; intros x B; rewrite (H x B);
    pose proof (ravel_range R x B); [symmetry|]; apply M; lia.
Qed.
