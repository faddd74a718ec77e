(* When is an interval [a, b) of the flat index a box of digits?

   What: top digit first, with rows of width w: while both ends lie in one row the digit is fixed; once they do not, the
         interval must consist of whole rows (interval_box). That test is exact (interval_box_iff).
   Why:  a mask is a box. Where a reshape splits a masked axis into digits, the mask must stay one. The engine runs this
         test (split_interval in engine/view/reshape.cpp). *)
Require Import ZArith Lia List.
From Oriel Require Import mixed_radix.
Import ListNotations.
Open Scope Z_scope.

(* ---- boxes in a box *)

Notation interval := (Z * Z)%type.

Fixpoint within (m : list interval) (x : list Z) : Prop :=
  match m, x with
  | [], [] => True
  | (a, b) :: m, i :: x => a <= i < b /\ within m x
  | _, _ => False
  end.

Definition proper (e : list Z) (m : list interval) := Forall2 (fun s r => 0 <= fst r <= snd r /\ snd r <= s) e m.

Definition is_box (e : list Z) (V : list Z -> Prop) :=
  exists m, proper e m /\ forall x, box e x -> (V x <-> within m x).

Definition digit_box (R : list Z) (a b : Z) := is_box R (fun x => a <= ravel R x < b).

Lemma proper_length e m : proper e m -> length m = length e.
Proof. induction 1; simpl; auto. Qed.

Lemma within_app m1 : forall m2 x1 x2, length m1 = length x1 ->
  (within (m1 ++ m2) (x1 ++ x2) <-> within m1 x1 /\ within m2 x2).
Proof.
  induction m1 as [|[a b] m1 IH]; intros m2 [|i x1] x2 L; simpl in *; try discriminate; [tauto|].
  rewrite IH by lia. tauto.
Qed.

Definition everything (e : list Z) : list interval := map (fun s => (0, s)) e.

Lemma everything_proper e : positive e -> proper e (everything e).
Proof. induction 1; simpl; constructor; auto; simpl; lia. Qed.

Lemma everything_within e : forall x, box e x -> within (everything e) x.
Proof. induction e as [|s e IH]; intros [|i x] B; simpl in *; try contradiction; auto. split; [tauto|]. apply IH, B. Qed.

(* ---- one more digit on top *)

Lemma top_digit R r x : box (R ++ [r]) x ->
  exists y i, x = y ++ [i] /\ box R y /\ 0 <= i < r /\ ravel (R ++ [r]) x = ravel R y + product R * i.
Proof.
  intro B. destruct (box_split _ _ _ B) as (y & z & -> & By & Bz).
  destruct z as [|i [|? ?]]; simpl in Bz; try tauto. exists y, i. repeat split; auto; try tauto.
  rewrite ravel_app by (apply box_length, By). simpl. ring.
Qed.

Lemma box_top R r y i : box R y -> 0 <= i < r -> box (R ++ [r]) (y ++ [i]).
Proof. intros B Hi. apply box_app; [apply box_length, B|]. simpl. auto. Qed.

Lemma ravel_top R r y i : box R y -> ravel (R ++ [r]) (y ++ [i]) = ravel R y + product R * i.
Proof. intro B. rewrite ravel_app by (apply box_length, B). simpl. ring. Qed.

(* part of one row *)
Lemma digit_box_row R r i c d : positive R -> digit_box R c d -> 0 <= c -> d <= product R -> 0 <= i < r ->
  digit_box (R ++ [r]) (product R * i + c) (product R * i + d).
Proof.
  intros HR (m & P & H) Hc Hd Hi. exists (m ++ [(i, i + 1)]). split.
  { apply Forall2_app; [exact P | repeat constructor; simpl; lia]. }
  intros x B. destruct (top_digit _ _ _ B) as (y & j & -> & By & Hj & ->).
  rewrite within_app by (rewrite (proper_length _ _ P); symmetry; apply box_length, By). rewrite <- (H y By).
  pose proof (ravel_range R y By). pose proof (product_positive R HR). simpl. split.
  - intros X. assert (j = i) by nia. subst j. lia.
  - intros (X & Y & _). assert (j = i) by lia. subst j. lia.
Qed.

(* whole rows *)
Lemma digit_box_rows R r p q : positive R -> 0 <= p <= q -> q <= r ->
  digit_box (R ++ [r]) (product R * p) (product R * q).
Proof.
  intros HR Hp Hq. pose proof (everything_proper R HR) as P. exists (everything R ++ [(p, q)]). split.
  { apply Forall2_app; [exact P | repeat constructor; simpl; lia]. }
  intros x B. destruct (top_digit _ _ _ B) as (y & j & -> & By & Hj & ->).
  rewrite within_app by (rewrite (proper_length _ _ P); symmetry; apply box_length, By).
  pose proof (ravel_range R y By). pose proof (product_positive R HR). pose proof (everything_within R y By). simpl.
  split; [intro X; repeat split; auto; nia | intros (_ & X & _); nia].
Qed.

Lemma digit_box_single r a b : 0 <= a <= b -> b <= r -> digit_box [r] a b.
Proof.
  intros Ha Hb. pose proof (digit_box_rows [] r a b (Forall_nil _) Ha Hb) as H. unfold product in H.
  cbn [fold_right] in H.
  rewrite !Z.mul_1_l in H. exact H.
Qed.

Lemma digit_box_unit R a b : digit_box R a b -> digit_box (1 :: R) a b.
Proof.
  intros (m & P & H). exists ((0, 1) :: m). split; [constructor; auto; simpl; lia|].
  intros [|i x] B; [contradiction|]. destruct B as [Hi B]. cbn [ravel within]. rewrite <- (H x B).
  replace (i + 1 * ravel R x) with (ravel R x) by lia. tauto.
Qed.

(* ---- the test *)

Fixpoint interval_box (M : list Z) (a b : Z) : Prop :=                  (* M: the digits, most significant first *)
  match M with
  | [] => True
  | _ :: M => let w := product M in
              a / w = (b - 1) / w /\ interval_box M (a mod w) ((b - 1) mod w + 1) \/ a mod w = 0 /\ b mod w = 0
  end.

Lemma product_rev M : product (rev M) = product M.
Proof. induction M as [|r M IH]; simpl; auto. rewrite product_app, IH. unfold product. cbn [fold_right]. ring. Qed.

Lemma positive_rev M : positive M -> positive (rev M).
Proof. apply Forall_rev. Qed.

Section Split.
Variables (R : list Z) (r a b : Z).
Hypotheses (HR : positive R) (Hab : 0 <= a < b) (Hb : b <= r * product R).
Let w := product R.

Lemma split_sound : a / w = (b - 1) / w /\ digit_box R (a mod w) ((b - 1) mod w + 1) \/ a mod w = 0 /\ b mod w = 0 ->
  digit_box (R ++ [r]) a b.
Proof.
  pose proof (product_positive R HR) as Hw. fold w in Hw, Hb.
  pose proof (Z.div_mod a w ltac:(lia)) as DA. pose proof (Z.mod_pos_bound a w ltac:(lia)) as MA.
  pose proof (Z.div_mod (b - 1) w ltac:(lia)) as DB. pose proof (Z.mod_pos_bound (b - 1) w ltac:(lia)) as MB.
  assert (0 <= a / w) by (apply Z.div_pos; lia). assert ((b - 1) / w < r) by (apply Z.div_lt_upper_bound; lia).
  intros [[Row Box]|[Ea Eb]].
  - pose proof (digit_box_row R r (a / w) _ _ HR Box ltac:(lia) ltac:(fold w; lia) ltac:(lia)) as X. fold w in X.
    replace (w * (a / w) + a mod w) with a in X by lia.
    replace (w * (a / w) + ((b - 1) mod w + 1)) with b in X by lia. exact X.
  - pose proof (Z.div_mod b w ltac:(lia)) as DB'.
    pose proof (digit_box_rows R r (a / w) (b / w) HR ltac:(nia) ltac:(nia)) as X. fold w in X.
    replace (w * (a / w)) with a in X by lia. replace (w * (b / w)) with b in X by lia. exact X.
Qed.

Lemma split_complete : digit_box (R ++ [r]) a b ->
  a / w = (b - 1) / w /\ digit_box R (a mod w) ((b - 1) mod w + 1) \/ a mod w = 0 /\ b mod w = 0.
Proof.
  pose proof (product_positive R HR) as Hw. fold w in Hw, Hb.
  pose proof (Z.div_mod a w ltac:(lia)) as DA. pose proof (Z.mod_pos_bound a w ltac:(lia)) as MA.
  pose proof (Z.div_mod (b - 1) w ltac:(lia)) as DB. pose proof (Z.mod_pos_bound (b - 1) w ltac:(lia)) as MB.
  assert (R0 : 0 <= a / w) by (apply Z.div_pos; lia).
  assert (R1 : (b - 1) / w < r) by (apply Z.div_lt_upper_bound; lia).
  assert (R01 : a / w <= (b - 1) / w) by (apply Z.div_le_mono; lia).
  set (top := a / w) in *. set (bottom := (b - 1) / w) in *.
  intros (m & P & H). apply Forall2_app_inv_l in P. destruct P as (m1 & m2 & P1 & P2 & ->).
  inversion P2 as [|? [p q] ? ? Hpq P3]; subst. inversion P3; subst. clear P2 P3. simpl in Hpq.
  (* on digit y of the row and row number i, being valid is a product *)
  assert (V : forall y i, box R y -> 0 <= i < r -> (a <= ravel R y + w * i < b <-> within m1 y /\ p <= i < q)).
  { intros y i By Hi. unfold w. rewrite <- (ravel_top R r y i By). rewrite (H _ (box_top R r y i By Hi)).
    rewrite within_app by (rewrite (proper_length _ _ P1); symmetry; apply box_length, By). simpl. tauto. }
  assert (At : forall j, 0 <= j < w -> box R (unravel R j) /\ ravel R (unravel R j) = j).
  { intros j Hj. split; [apply unravel_box | apply ravel_unravel_index]; auto. }
  destruct (Z.eq_dec top bottom) as [Row|Rows]; [left | right].
  - split; auto. exists m1. split; auto. intros y By. pose proof (ravel_range R y By) as Hy. fold w in Hy.
    destruct (At (a mod w) MA) as [Ba Ea].
    assert (Q : within m1 (unravel R (a mod w)) /\ p <= top < q) by (apply V; auto; lia).
    specialize (V y top By ltac:(lia)). split.
    + intro X. apply V. lia.
    + intro X. assert (Y : a <= ravel R y + w * top < b) by (apply V; tauto). rewrite <- Row in DB. lia.
  - destruct (At 0 ltac:(lia)) as [B0 E0]. destruct (At (w - 1) ltac:(lia)) as [B1 E1].
    assert (First : within m1 (unravel R (w - 1)) /\ p <= top < q) by (apply V; auto; nia).
    assert (Last : within m1 (unravel R 0) /\ p <= bottom < q) by (apply V; auto; nia).
    assert (a <= ravel R (unravel R 0) + w * top < b) by (apply V; auto; try tauto; lia).
    assert (a <= ravel R (unravel R (w - 1)) + w * bottom < b) by (apply V; auto; try tauto; lia).
    split; [lia|]. symmetry. apply (Z.mod_unique b w (bottom + 1) 0); lia.
Qed.
End Split.

Theorem interval_box_iff M : positive M -> forall a b, 0 <= a < b -> b <= product M ->
  (interval_box M a b <-> digit_box (rev M) a b).
Proof.
  induction 1 as [|r M Hr HM IH]; intros a b Ha Hb.
  { unfold product in Hb. simpl in *. split; auto. intros _. exists []. split; [constructor|].
    intros [|? ?] B; [|contradiction]. simpl. lia. }
  cbn [interval_box rev]. pose proof (product_positive M HM) as Hw. pose proof (positive_rev M HM) as HR.
  assert (Hb' : b <= r * product (rev M)) by (rewrite product_rev; exact Hb).
  pose proof (Z.mod_pos_bound a (product M) ltac:(lia)) as MA.
  pose proof (Z.mod_pos_bound (b - 1) (product M) ltac:(lia)) as MB.
  assert (Rec : a / product M = (b - 1) / product M ->
    (interval_box M (a mod product M) ((b - 1) mod product M + 1) <->
     digit_box (rev M) (a mod product M) ((b - 1) mod product M + 1))).
  { intro Row. apply IH; [|lia]. pose proof (Z.div_mod a (product M) ltac:(lia)).
    pose proof (Z.div_mod (b - 1) (product M) ltac:(lia)). rewrite <- Row in *. lia. }
  split; intro H.
  - apply split_sound; auto. rewrite product_rev. destruct H as [[Row H]|H]; [left; split; auto; tauto | auto].
  - apply split_complete in H; auto. rewrite product_rev in H.
    destruct H as [[Row H]|H]; [left; split; auto; tauto | auto].
Qed.

(* two digits at once, as one checks it by hand *)
Theorem interval_split r w a b : 1 <= w -> 1 <= r -> 0 <= a < b -> b <= r * w ->
  (digit_box [w; r] a b <-> a / w = (b - 1) / w \/ a mod w = 0 /\ b mod w = 0).
Proof.
  intros Hw Hr Ha Hb. assert (P : positive [w]) by (repeat constructor; lia).
  assert (E : product [w] = w) by (unfold product; cbn [fold_right]; ring).
  change [w; r] with ([w] ++ [r]). split.
  - intro H. apply split_complete in H; auto; [|rewrite E; lia]. rewrite E in H. tauto.
  - intro H. apply split_sound; auto; [rewrite E; lia|]. rewrite E. destruct H as [H|H]; [left; split; auto | auto].
    pose proof (Z.mod_pos_bound a w ltac:(lia)). pose proof (Z.mod_pos_bound (b - 1) w ltac:(lia)).
    apply digit_box_single; [|lia]. pose proof (Z.div_mod a w ltac:(lia)). pose proof (Z.div_mod (b - 1) w ltac:(lia)).
    rewrite <- H in *. lia.
Qed.
