(* A reshape that is refused: for the hints, no one view has the shape.

   What: run for x, with x as the hints, `reshaped` answers None only where no view of the target shape is the view's
         map (reshape_none). For the hints, the blocks are the canonical form of canonicalize.v, and the two tests,
           that of
         the cuts and that of the intervals, are those of masked_reshape.v.
   Why:  the steps are then exact, as on numbers. What the engine records with a "no" is not in these programs, so
         nothing is said of other sizes. *)
Require Import ZArith Lia List Bool.
From Oriel Require Import mixed_radix affine masked_view canonical_unique canonicalize interval_box masked_reshape.
From Oriel Require Import guards asking symbolic_view symbolic_blocks symbolic_interval symbolic_reshape merge_walk.
From Oriel Require Import merge_paths merge_guards reshape_guards.
Import ListNotations.
Open Scope Z_scope.

Section Symbolic.
Context {assignment : Type}.
Notation program := (program assignment).
Notation size := (assignment -> Z).
Notation saxis := (@saxis assignment).
Notation sview := (@sview assignment).
Variable known : size -> Z -> bool.
Variable x : assignment.

Notation out p := (fst (run x p)).

Lemma out_bind {a b} (p : program a) (f : a -> program b) : out (bind p f) = out (f (out p)).
Proof. rewrite run_bind. destruct (run x p) as [r t]. simpl. destruct (run x (f r)). reflexivity. Qed.
Lemma out_ask {a} c (k : bool -> program a) : out (Ask c k) = out (k (c x)).
Proof. simpl. destruct (run x (k (c x))). reflexivity. Qed.
Lemma out_given (c : assignment -> bool) : out (given x c) = c x.
Proof. unfold given. destruct (c x) eqn:E; simpl; auto. Qed.

(* ---- the blocks are the canonical form *)

Lemma unit_axis_ok a : ok (axis_at x a) -> unit_axis a x = (extent (axis_at x a) =? 1).
Proof.
  unfold unit_axis, one_position, ok. simpl. intro H. destruct (Z.eqb_spec (s_extent a x) 1); auto. simpl.
  apply Z.eqb_eq. lia.
Qed.

Lemma join_of_out l : Forall ok (axes_at x l) -> forall o b,
  (fst (out (join_of x o b l)) x, axes_at x (snd (out (join_of x o b l)))) =
  join (o x) (axis_at x b) (axes_at x l).
Proof.
  induction l as [|a l IH]; intros K o b; [reflexivity|]. inversion K as [|? ? Ka Kl]; subst. specialize (IH Kl).
  cbn [join_of axes_at map join]. rewrite out_bind, out_given, (unit_axis_ok a Ka).
  destruct (extent (axis_at x a) =? 1); [apply IH|]. rewrite out_bind, out_given. unfold one_position, range. simpl hi.
  simpl lo at 1. destruct (s_hi a x - s_lo a x =? 1); [apply IH|]. rewrite out_bind, out_given. unfold continues.
  change (s_stride a x =? s_extent b x * s_stride b x) with
    (stride (axis_at x a) =? extent (axis_at x b) * stride (axis_at x b)).
  destruct (full (axis_at x b) && _); [apply IH|]. rewrite out_bind. specialize (IH o a).
  destruct (join (o x) (axis_at x a) (map (axis_at x) l)) as [o' l'] eqn:J.
  change (map (axis_at x) l) with (axes_at x l) in J. rewrite J in IH. injection IH as E1 E2. simpl. congruence.
Qed.

Lemma fold_blocks_out l : Forall ok (axes_at x l) -> forall o,
  (fst (out (fold_blocks x o l)) x, axes_at x (snd (out (fold_blocks x o l)))) = canonicalize (o x) (axes_at x l).
Proof.
  induction l as [|a l IH]; intros K o; [reflexivity|]. inversion K as [|? ? Ka Kl]; subst. specialize (IH Kl).
  cbn [fold_blocks axes_at map canonicalize]. rewrite out_bind, out_given, (unit_axis_ok a Ka).
  destruct (extent (axis_at x a) =? 1); [apply IH|]. rewrite out_bind, out_given. unfold one_position, range. simpl hi.
  simpl lo at 1. destruct (s_hi a x - s_lo a x =? 1); apply join_of_out, Kl.
Qed.

(* ---- an interval that is a box of digits is found *)

Lemma whole_interval M : positive M -> interval_box M 0 (product M).
Proof.
  destruct M as [|r M]; simpl; auto. intro H. inversion H as [|? ? Hr HM]; subst. right.
  pose proof (product_positive M HM). change (product (r :: M)) with (r * product M). rewrite Z.mod_mul by lia.
  rewrite Z.mod_0_l by lia. auto.
Qed.

Lemma interval_masks_found M : positive (sizes_at x M) -> forall row lo hi, row x = product (sizes_at x M) ->
  0 <= lo x < hi x -> hi x <= row x -> interval_box (sizes_at x M) (lo x) (hi x) ->
  out (interval_masks row lo hi M) <> None.
Proof.
  induction M as [|r M IH]; intros HM row lo hi Er Hl Hh Box; [discriminate|].
  inversion HM as [|? ? Hr HM']; subst. specialize (IH HM'). cbn [interval_masks]. rewrite out_ask.
  assert (Er' : row x = r x * product (sizes_at x M)) by exact Er. pose proof (product_positive _ HM') as Hw.
  assert (N : row x / r x = product (sizes_at x M)) by (rewrite Er', Z.mul_comm; apply Z.div_mul; lia).
  cbv beta. rewrite N. cbn [sizes_at map interval_box] in Box. fold (sizes_at x M) in Box.
  set (w := product (sizes_at x M)) in *.
  pose proof (Z.div_mod (lo x) w ltac:(lia)) as D. pose proof (Z.mod_pos_bound (lo x) w ltac:(lia)) as B.
  pose proof (Z.div_mod (hi x - 1) w ltac:(lia)) as D1. pose proof (Z.mod_pos_bound (hi x - 1) w ltac:(lia)) as B1.
  pose proof (Z.div_mod (hi x) w ltac:(lia)) as D2.
  destruct (Z.leb_spec (hi x) ((lo x / w + 1) * w)) as [S|S].
  - assert (R : lo x / w = (hi x - 1) / w) by (assert (lo x / w <= (hi x - 1) / w) by (apply Z.div_le_mono; lia); nia).
    rewrite out_bind. match goal with |- context [interval_masks ?r ?l ?k M] => pose proof (IH r l k) as F end.
    cbv beta in F. rewrite N in F. specialize (F eq_refl ltac:(lia) ltac:(lia)).
    destruct (out (interval_masks _ _ _ M)); [discriminate|]. exfalso. apply F; auto.
    destruct Box as [[_ Box]|[E1 E2]].
    + replace (lo x - lo x / w * w) with (lo x mod w) by lia.
      replace (hi x - lo x / w * w) with ((hi x - 1) mod w + 1) by (rewrite R; lia). exact Box.
    + assert (hi x / w = lo x / w + 1) by nia.
      replace (lo x - lo x / w * w) with 0 by lia. replace (hi x - lo x / w * w) with w by nia.
      apply whole_interval, HM'.
  - destruct Box as [[R _]|[E1 E2]]; [nia|]. rewrite out_ask. cbv beta. rewrite N, E1, E2. simpl andb. cbv iota.
    rewrite out_bind. match goal with |- context [interval_masks ?r ?l ?k M] => pose proof (IH r l k) as F end.
    unfold number in F. cbv beta in F. rewrite N in F.
    specialize (F eq_refl ltac:(lia) ltac:(lia) (whole_interval _ HM')). unfold number.
    destruct (out (interval_masks _ _ _ M)); [discriminate | congruence].
Qed.

(* ---- a group of digits that fills the block is found *)

Lemma ones_product R : positive R -> product R = 1 -> Forall (fun r => r = 1) R.
Proof.
  induction 1 as [|r R Hr H IH]; intro P; constructor; change (product (r :: R)) with (r * product R) in P;
    pose proof (product_positive R H); [nia | apply IH; nia].
Qed.

Lemma digit_box_ones R ones a b : positive R -> Forall (fun r => r = 1) ones -> 0 <= a < b -> b <= product R ->
  digit_box (R ++ ones) a b -> digit_box R a b.
Proof.
  intros HR H Ha Hb (m & P & Box). apply Forall2_app_inv_l in P. destruct P as (m1 & m2 & P1 & P2 & ->).
  assert (O : box ones (affine.origin ones) /\ ravel ones (affine.origin ones) = 0).
  { clear -H. induction H as [|r l -> H [B E]]; simpl; auto. rewrite E. auto with zarith. }
  destruct O as [B0 E0].
  assert (App : forall y, box R y -> (a <= ravel R y < b <-> within m1 y /\ within m2 (affine.origin ones))).
  { intros y By. rewrite <- within_app by (rewrite (proper_length _ _ P1); symmetry; apply box_length, By).
    rewrite <- (Box (y ++ affine.origin ones)) by (apply box_app; [apply box_length, By | auto]).
    rewrite ravel_app by (apply box_length, By). rewrite E0, Z.mul_0_r, Z.add_0_r. tauto. }
  assert (W : within m2 (affine.origin ones)).
  { apply (App (unravel R a)); [apply unravel_box; auto; lia|]. rewrite ravel_unravel_index by (auto; lia). lia. }
  exists m1. split; auto. intros y By. rewrite (App y By). tauto.
Qed.

Lemma splits_ones l ones : Forall (fun r => r = 1) ones -> forall R, splits l R -> splits l (ones ++ R).
Proof. induction 1 as [|r ones -> _ IH]; intros R S; simpl; auto. apply splits_unit, IH, S. Qed.

(* Whatever prefix fills the block, the shortest is found; it differs by digits of extent 1. *)
Lemma group_found b target : forall w R1 rest, positive (sizes_at x target) -> 0 < w x ->
  sizes_at x target = R1 ++ rest -> w x * product R1 = s_extent b x ->
  exists g rest', out (group x b w target) = Some (g, rest') /\ target = map fst g ++ rest' /\
    w x * product (sizes_at x (map fst g)) = s_extent b x /\
    exists ones, Forall (fun r => r = 1) ones /\ R1 = sizes_at x (map fst g) ++ ones /\
      sizes_at x rest' = ones ++ rest.
Proof.
  induction target as [|r target IH]; intros w R1 rest P Hw E F.
  - destruct R1; [|discriminate]. simpl in E. cbn [group]. rewrite out_bind, out_given. unfold product in F. simpl in F.
    rewrite (proj2 (Z.eqb_eq _ _)) by lia. exists [], []. simpl. split; auto. split; auto.
    split; [unfold product; simpl; lia|].
    exists []. auto.
  - cbn [group]. rewrite out_bind, out_given. destruct (Z.eqb_spec (w x) (s_extent b x)) as [D|D].
    + exists [], (r :: target). simpl. split; auto. split; auto. split; [unfold product; simpl; lia|].
      assert (PR : positive R1) by (rewrite E in P; apply Forall_app in P; tauto).
      exists R1. split; [apply ones_product; auto; nia | auto].
    + inversion P as [|? ? Pr P']; subst. destruct R1 as [|q R1]; [unfold product in F; simpl in F; lia|].
      simpl in E. injection E as <- E. change (product (r x :: R1)) with (r x * product R1) in F.
      rewrite out_bind.
      assert (Dv : (s_extent b x mod (w x * r x) =? 0) = true).
      { apply Z.eqb_eq. rewrite <- F, Z.mul_assoc, Z.mul_comm. apply Z.mod_mul. nia. }
      rewrite Dv. simpl (fst (run x (Ret true))). cbv iota. rewrite out_bind.
      destruct (IH (fun x => w x * r x) R1 rest P' ltac:(simpl; nia) E ltac:(simpl; lia))
        as (g & rest' & -> & -> & Pg & ones & O & -> & Er).
      eexists ((r, _) :: g), rest'. simpl. split; [reflexivity|]. split; auto. split.
      { change (product (r x :: ?l)) with (r x * product l). cbv beta in Pg. lia. }
      exists ones. auto.
Qed.

(* ---- all blocks *)

Lemma reshaping_found bs : Forall block (axes_at x bs) -> forall all target, positive (sizes_at x all) ->
  incl target all -> splits (axes_at x bs) (sizes_at x target) -> out (reshaping x all bs target) <> None.
Proof.
  induction bs as [|b bs IH]; intros K all target Pa Incl S; [discriminate|].
  inversion K as [|? ? Kb Kl]; subst. destruct S as (R1 & R2 & E & F & Box & S). simpl in F, Box.
  assert (P : forall l, incl l all -> positive (sizes_at x l)).
  { clear -Pa. intros l I. unfold positive, sizes_at in *. rewrite Forall_map, Forall_forall in *.
    intros r Hr. apply Pa, I, Hr. }
  destruct (group_found b target (number 1) R1 R2 (P _ Incl) Z.lt_0_1 E ltac:(unfold number; lia))
    as (g & rest & G & -> & Pg & ones & O & -> & Er).
  unfold number in Pg. rewrite Z.mul_1_l in Pg. cbn [reshaping]. rewrite out_bind, G. clear G.
  assert (Pd : positive (sizes_at x (map fst g))) by (apply P; intros r Hr; apply Incl, in_or_app; auto).
  unfold block in Kb. simpl in Kb.
  apply digit_box_ones in Box; auto; [|lia|rewrite Pg; lia].
  assert (M : out (group_masks x all b (map fst g)) <> None).
  { unfold group_masks. rewrite out_bind, out_given. destruct (full_axis b x); [discriminate|]. rewrite out_ask.
    replace (existsb (fun r : size => r x =? 0) all) with false.
    2: { symmetry. clear -Pa. induction all as [|r all IH]; simpl; auto. inversion Pa; subst. rewrite IH by auto.
         destruct (Z.eqb_spec (r x) 0); auto. lia. }
    rewrite out_bind. pose proof (interval_masks_found (rev (map fst g))) as Q. rewrite sizes_rev in Q.
    specialize (Q ltac:(apply Forall_rev, Pd) (s_extent b) (s_lo b) (s_hi b)). rewrite product_rev in Q.
    specialize (Q ltac:(lia) ltac:(lia) ltac:(lia)).
    destruct (out (interval_masks _ _ _ _)); [discriminate|]. exfalso. apply Q; auto.
    apply interval_box_iff; [apply Forall_rev, Pd | lia | rewrite product_rev; lia|]. rewrite rev_involutive.
    exact Box. }
  rewrite out_bind. destruct (out (group_masks _ _ _ _)) as [ms|]; [|congruence]. rewrite out_bind.
  assert (R : out (reshaping x all bs rest) <> None).
  { apply IH; auto; [intros r Hr; apply Incl, in_or_app; auto|]. rewrite Er. apply splits_ones; auto. }
  destruct (out (reshaping _ _ _ _)); [discriminate | congruence].
Qed.

Lemma positive_sizes target : sizes_positive x target -> some_empty (bare target) x = false ->
  positive (sizes_at x target).
Proof.
  intros P E. apply (not_zero x target P). rewrite <- E. unfold some_empty, bare. clear.
  induction target; simpl; congruence.
Qed.

(* For x as the hints, "none" is exact: no view of the target shape is the same map. *)
Theorem reshape_none v target : proper_view x v -> sizes_positive x target ->
  product (sizes_at x target) = numel (axes_at x (s_axes v)) -> out (reshaped known x v target) = None ->
  ~ one_view (sizes_at x target) (flat_at x v).
Proof.
  intros V Pt N E. unfold reshaped in E. rewrite out_bind, out_given in E.
  destruct (some_empty (bare target) x) eqn:Empty; [discriminate|]. pose proof (positive_sizes _ Pt Empty) as P.
  pose proof (product_positive _ P) as Size. rewrite out_bind in E. unfold blocks_of in E.
  rewrite out_bind, out_given in E. destruct (some_empty (s_axes v) x) eqn:Ev.
  { apply some_empty_numel in Ev. lia. }
  rewrite out_bind, out_given in E. destruct (some_invalid (s_axes v) x) eqn:Iv.
  { destruct target; [|discriminate]. intros (o & l & S & K & M). destruct l; [|discriminate].
    specialize (M [] I). unfold flat_at in M. rewrite some_invalid_flat in M by exact Iv. discriminate. }
  assert (K : Forall ok (axes_at x (s_axes v))).
  { rewrite N in Size. pose proof (positive_axes _ V Size) as Z. clear -Z Iv. unfold some_invalid in Iv. revert Z Iv.
    induction (s_axes v) as [|a l IH]; simpl; intros Z Iv; constructor; inversion Z as [|? ? Za Zl]; subst;
      rewrite orb_false_iff, Z.leb_gt in Iv; [unfold ok, sized, view_axis in *; simpl in *; lia | apply IH; tauto]. }
  rewrite out_bind in E. pose proof (fold_blocks_out _ K (s_offset v)) as F.
  destruct (out (fold_blocks x (s_offset v) (s_axes v))) as [o l]. simpl in F, E.
  destruct (canonicalize_spec _ K (s_offset v x)) as (C & _ & _). rewrite <- F in C. simpl in C.
  intro One. apply (any_masked_reshape_iff _ _ _ K P N) in One. rewrite <- F in One. simpl in One.
  assert (Bl : Forall block (axes_at x l)).
  { destruct C as [C _]. clear -C. revert C. generalize (axes_at x l). intro m.
    induction m as [|a m IH]; simpl; intro C; constructor; [apply C | apply IH, C]. }
  pose proof (reshaping_found l Bl target target P (incl_refl _) One) as R. rewrite out_bind in E.
  destruct (out (reshaping x target l target)) as [r|]; [|congruence].
  unfold some_view in E. rewrite out_bind in E. discriminate.
Qed.
End Symbolic.
