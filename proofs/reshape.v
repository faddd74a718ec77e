(* Theorem R without masks: which reshapes of an unmasked view are one view. Sound and complete, for any strides.

   What: two unmasked views are the same map of the flat index exactly if their non-zero carry terms agree
         (same_map_iff); a view can be read in shape R exactly if each of its true cuts, those with a non-zero
         coefficient, is a cut of R (reshape_iff).
   Why:  the test takes O(rank) comparisons and needs no enumeration; its "no" is a proof that no strides would do.
         Zero and negative strides are covered. masked_reshape.v has the case with masks. *)
Require Import ZArith Lia List Bool.
From Oriel Require Import mixed_radix carry_form floors.
Import ListNotations.
Open Scope Z_scope.

Theorem same_map_iff l1 l2 : wf l1 -> wf l2 -> size l1 = size l2 ->
  ((forall n, 0 <= n < size l1 -> val l1 n = val l2 n) <-> nonzero (terms l1 1 0) = nonzero (terms l2 1 0)).
Proof.
  intros W1 W2 E. split; intro H.
  - apply (floors_independent (size l1)) with (b := 0); try apply all_nonzero; try lia.
    + apply nonzero_increasing. rewrite <- (Z.mul_1_l (size l1)). apply terms_increasing; auto; lia.
    + apply nonzero_increasing. rewrite E, <- (Z.mul_1_l (size l2)). apply terms_increasing; auto; lia.
    + intros n Hn. rewrite !sum_nonzero, (carry_form l1), (carry_form l2) by (auto; lia). apply H, Hn.
  - intros n Hn. rewrite <- (carry_form l1), <- (carry_form l2) by (auto; lia).
    rewrite <- (sum_nonzero (terms l1 1 0)), H. apply sum_nonzero.
Qed.

(* ---- a view of shape R with chosen coefficients *)

Fixpoint cuts (R : list Z) (W : Z) : list Z :=
  match R with
  | [] => []
  | r :: R => W :: cuts R (W * r)
  end.

Fixpoint with_coefficients (R : list Z) (W p : Z) (f : Z -> Z) : list dim :=
  match R with
  | [] => []
  | r :: R => let t := p + f W in (r, t) :: with_coefficients R (W * r) (r * t) f
  end.

Definition coefficient (L : list term) (W : Z) : Z := fold_right (fun x a => if fst x =? W then snd x + a else a) 0 L.

Lemma terms_cuts l : forall W p, map fst (terms l W p) = cuts (map fst l) W.
Proof. induction l as [|[s t] l IH]; intros; simpl; [|rewrite IH]; auto. Qed.

Lemma with_coefficients_shape R f : forall W p, map fst (with_coefficients R W p f) = R.
Proof. induction R; intros; simpl; [|rewrite IHR]; auto. Qed.

Lemma with_coefficients_terms R f :
  forall W p, terms (with_coefficients R W p f) W p = map (fun w => (w, f w)) (cuts R W).
Proof. induction R as [|r R IH]; intros; simpl; auto. rewrite IH. do 2 f_equal. lia. Qed.

Lemma cuts_at_least R : Forall (fun r => 2 <= r) R -> forall W w, 0 < W -> In w (cuts R W) -> W <= w.
Proof.
  induction 1 as [|r R H _ IH]; simpl; intros W w HW Hin; [contradiction|].
  destruct Hin as [E|E]; [lia|]. apply IH in E; nia.
Qed.

Lemma coefficient_below N L : forall b W, increasing N b L -> W <= b -> coefficient L W = 0.
Proof.
  induction L as [|[V c] L IH]; intros b W H Hb; simpl; auto. inversion H; subst.
  destruct (Z.eqb_spec V W); [lia|]. apply (IH V); auto; lia.
Qed.

Lemma sum_zero_coefficients C n : sum (map (fun w => (w, 0)) C) n = 0.
Proof. induction C; simpl; lia. Qed.

(* terms whose cuts all occur among the cuts of R, written with one coefficient for every cut of R *)
Lemma spread_over_cuts N R : Forall (fun r => 2 <= r) R -> forall W L b n, 0 < W -> b < W -> increasing N b L ->
  (forall x, In x L -> In (fst x) (cuts R W)) ->
  sum (map (fun w => (w, coefficient L w)) (cuts R W)) n = sum L n.
Proof.
  induction 1 as [|r R Hr HR IH]; intros W L b n HW Hb HI Hin; simpl.
  { destruct L as [|x L]; auto. destruct (Hin x). left; auto. }
  destruct L as [|[V c] L]; [simpl; apply sum_zero_coefficients|].
  inversion HI; subst. destruct (Hin (V, c) (or_introl eq_refl)) as [E|E]; simpl in E.
  - subst V. assert (Rest : forall x, In x L -> In (fst x) (cuts R (W * r))).
    { intros x Hx. destruct (Hin x (or_intror Hx)) as [E|E]; auto.
      assert (W < fst x) by (apply (increasing_above N L); auto). lia. }
    assert (Here : coefficient ((W, c) :: L) W = c).
    { simpl. rewrite Z.eqb_refl, (coefficient_below N L W) by (auto; lia). lia. }
    change (sum ((W, c) :: L) n) with (c * (n / W) + sum L n). rewrite Here. f_equal.
    rewrite <- (IH (W * r) L W n) by (auto; nia). f_equal. apply map_ext_in. intros w Hw. f_equal.
    apply cuts_at_least in Hw; [|auto|nia]. simpl. destruct (Z.eqb_spec W w); auto. nia.
  - assert (WV : W < V) by (apply cuts_at_least in E; auto; nia).
    assert (I' : increasing N W ((V, c) :: L)) by (constructor; auto).
    rewrite (coefficient_below N ((V, c) :: L) W W) by (auto; lia). rewrite Z.mul_0_l, Z.add_0_l.
    apply (IH (W * r) ((V, c) :: L) W n); auto; try nia.
    intros x Hx. destruct (Hin x Hx) as [E'|E']; auto. pose proof (increasing_above N _ W I' x Hx). lia.
Qed.

(* ---- the criterion *)

Lemma shape_size l R : map fst l = R -> size l = product R.
Proof. intros <-. unfold product. induction l as [|[s t] l IH]; simpl; auto. rewrite IH; auto. Qed.

Lemma shape_wf l R : map fst l = R -> Forall (fun r => 2 <= r) R -> wf l.
Proof. intros <- H. unfold wf. rewrite Forall_map in H. exact H. Qed.

Theorem reshape_iff l R : wf l -> Forall (fun r => 2 <= r) R -> size l = product R ->
  ((exists l', map fst l' = R /\ forall n, 0 <= n < size l -> val l' n = val l n) <->
   (forall W c, In (W, c) (terms l 1 0) -> c <> 0 -> In W (cuts R 1))).
Proof.
  intros Hl HR Hs. split.
  - intros (l' & E & H) W c Hin Hc.
    assert (S' : size l' = size l) by (rewrite Hs; apply shape_size, E).
    assert (Q := proj1 (same_map_iff l' l (shape_wf l' R E HR) Hl S') ltac:(rewrite S'; exact H)).
    assert (Hin' : In (W, c) (nonzero (terms l' 1 0))) by (rewrite Q; apply in_nonzero; auto).
    apply in_nonzero in Hin'. rewrite <- E, <- (terms_cuts l' 1 0). apply (in_map fst _ (W, c)), Hin'.
  - intro H. set (L := nonzero (terms l 1 0)). set (l' := with_coefficients R 1 0 (coefficient L)).
    assert (E : map fst l' = R) by apply with_coefficients_shape.
    exists l'. split; auto. intros n Hn.
    rewrite <- (carry_form l'), <- (carry_form l);
      [| auto | auto | exact (shape_wf l' R E HR) | rewrite (shape_size l' R E); lia].
    unfold l'. rewrite with_coefficients_terms, <- (sum_nonzero (terms l 1 0)). fold L.
    apply (spread_over_cuts (size l) R HR 1 L 0 n); try lia.
    + apply nonzero_increasing. rewrite <- (Z.mul_1_l (size l)). apply terms_increasing; auto; lia.
    + intros [W c] Hin. apply in_nonzero in Hin. apply (H W c); tauto.
Qed.
