(* Theorems H0 and H1: a stack of two views can hold a Subset Sum problem.

   What: a is a list of two or more positive numbers; a point x of the cube {0,1}^k chooses a subset, whose sum is a.x.
         H0: over a contiguous inner view with one masked position, H1: over an unmasked inner view of rank 3, an
         outer view is written down such that the stack is one view exactly if no subset sums to tau.
   Why:  no test in polynomial time decides every stack unless P = NP, so that a budget, and the verdict Unknown, cannot
         be avoided. That numbers are short and the stack is quickly written down is said on paper. *)
Require Import ZArith Lia List Bool.
From Oriel Require Import mixed_radix affine carry_form masked_view interval_box masked_reshape value_test gadget.
Import ListNotations.
Open Scope Z_scope.

Definition cube (a : list Z) : list Z := map (fun _ => 2) a.
Definition total (a : list Z) : Z := fold_right Z.add 0 a.
Definition subset_sum (a : list Z) (tau : Z) := exists x, box (cube a) x /\ dot a x = tau.

Lemma cube_length a : length (cube a) = length a.
Proof. apply map_length. Qed.

Lemma dot_cube a : positive a -> forall x, box (cube a) x -> 0 <= dot a x <= total a.
Proof.
  unfold total. induction 1 as [|s a Hs Ha IH]; intros [|i x] B; simpl in *; try contradiction; [lia|].
  destruct B as [Hi B]. specialize (IH x B). nia.
Qed.

Lemma flip_moves s i : 1 <= s -> 0 <= i < 2 -> s * (1 - i) <> s * i.
Proof. intros Hs Hi. assert (i = 0 \/ i = 1) as [-> | ->] by lia; lia. Qed.

(* a hit and the three points that differ from it in two coordinates only *)
Lemma around_hit a tau x : positive a -> (2 <= length a)%nat -> box (cube a) x -> dot a x = tau ->
  exists a1 a2 a' i k y, a = a1 :: a2 :: a' /\ x = i :: k :: y /\ 1 <= a1 /\ 1 <= a2 /\ 0 <= i < 2 /\ 0 <= k < 2 /\
    box (cube a') y.
Proof.
  intros Ha L B _. destruct a as [|a1 [|a2 a']]; simpl in L; try lia.
  destruct x as [|i [|k y]]; simpl in B; try tauto. inversion Ha as [|? ? H1 H']; subst. inversion H'; subst.
  exists a1, a2, a', i, k, y. intuition.
Qed.

(* the points that miss tau are a box only if all do *)
Lemma misses_box_iff a tau : positive a -> (2 <= length a)%nat ->
  (is_box (cube a) (fun x => dot a x <> tau) <-> ~ subset_sum a tau).
Proof.
  intros Ha L. split.
  - intros (m & P & H) (x & B & E).
    destruct (around_hit a tau x Ha L B E) as (a1 & a2 & a' & i & k & y & -> & -> & H1 & H2 & Hi & Hk & By).
    assert (Q : forall i' k', 0 <= i' < 2 -> 0 <= k' < 2 ->
      (dot (a1 :: a2 :: a') (i' :: k' :: y) <> tau <-> within m (i' :: k' :: y))).
    { intros i' k' Hi' Hk'. apply H. simpl. auto. }
    pose proof (Q i k Hi Hk) as Q00. pose proof (Q (1 - i) k ltac:(lia) Hk) as Q10.
    pose proof (Q i (1 - k) Hi ltac:(lia)) as Q01.
    destruct m as [|[p1 q1] [|[p2 q2] m']]; try (inversion P as [|? ? ? ? _ P']; inversion P'; fail).
    cbn [dot within] in *. pose proof (flip_moves a1 i H1 Hi). pose proof (flip_moves a2 k H2 Hk).
    apply Q00; [|exact E]. assert (W10 := proj1 Q10 ltac:(lia)). assert (W01 := proj1 Q01 ltac:(lia)). tauto.
  - intro No. exists (everything (cube a)). split.
    + apply everything_proper. unfold cube. clear. induction a; simpl; constructor; auto; lia.
    + intros x B. split; [intros _; apply everything_within, B|]. intros _ E. apply No. exists x. auto.
Qed.

(* the indicator of a hit is affine only if there is none *)
Lemma indicator_affine_iff a tau : positive a -> (2 <= length a)%nat ->
  (affine (cube a) (fun x => if dot a x =? tau then 1 else 0) <-> ~ subset_sum a tau).
Proof.
  intros Ha L. split.
  - intros (c & b & Hb & H) (x & B & E).
    destruct (around_hit a tau x Ha L B E) as (a1 & a2 & a' & i & k & y & -> & -> & H1 & H2 & Hi & Hk & By).
    destruct b as [|b1 [|b2 b']]; simpl in Hb; try lia.
    assert (Q : forall i' k', 0 <= i' < 2 -> 0 <= k' < 2 ->
      (if dot (a1 :: a2 :: a') (i' :: k' :: y) =? tau then 1 else 0) =
      c + dot (b1 :: b2 :: b') (i' :: k' :: y)) by (intros; apply H; simpl; auto).
    pose proof (Q i k Hi Hk) as P00. pose proof (Q (1 - i) k ltac:(lia) Hk) as P10.
    pose proof (Q i (1 - k) Hi ltac:(lia)) as P01. pose proof (Q (1 - i) (1 - k) ltac:(lia) ltac:(lia)) as P11.
    clear Q H.
    cbn [dot] in *. pose proof (flip_moves a1 i H1 Hi). pose proof (flip_moves a2 k H2 Hk).
    revert P00 P10 P01 P11.
    repeat match goal with |- context [?u =? tau] => destruct (Z.eqb_spec u tau); try lia end.
  - intro No. exists 0, (origin (cube a)). split; [apply origin_length|]. intros x B. rewrite origin_dot.
    destruct (Z.eqb_spec (dot a x) tau) as [E|]; [|lia]. destruct No. exists x. auto.
Qed.

(* ---- H0: one masked position *)

Section Masks.
Variables (a : list Z) (tau W : Z).
Hypotheses (Ha : positive a) (L : (2 <= length a)%nat) (Ht : 0 <= tau) (HW : total a + tau < W).

Definition masked_inner := [Axis W 1 1 W; Axis 2 W 0 2].               (* contiguous (2, W), its position 0 invalid *)
Definition masked_stack (x : list Z) := at_flat 0 masked_inner (W - tau + dot a x).

Lemma masked_stack_is x : box (cube a) x ->
  masked_stack x = if dot a x =? tau then None else Some (W - tau + dot a x).
Proof.
  intro B. pose proof (dot_cube a Ha x B) as D. unfold masked_stack, masked_inner. cbn [at_flat extent stride].
  remember (W - tau + dot a x) as n eqn:En. pose proof (Z.div_mod n W ltac:(lia)) as E.
  pose proof (Z.mod_pos_bound n W ltac:(lia)) as M.
  assert (Q : 0 <= n / W < 2) by (split; [apply Z.div_pos; lia | apply Z.div_lt_upper_bound; lia]).
  rewrite (Z.mod_small (n / W) 2) by lia. rewrite (valid_true _ (n / W)) by (simpl; lia).
  assert (Hit : n mod W = 0 <-> dot a x = tau).
  { split; intro X; [assert (n / W = 0 \/ n / W = 1) as [Q0|Q0] by lia; rewrite X, Q0 in E; lia|].
    replace n with W by lia. apply Z.mod_same. lia. }
  destruct (Z.eqb_spec (dot a x) tau) as [Y|Y].
  - rewrite valid_false; auto. simpl. lia.
  - rewrite valid_true by (simpl; lia). cbn [plus]. f_equal. lia.
Qed.

Theorem masks_are_hard :
  (exists o l, shape l = cube a /\ Forall view_axis l /\
    forall x, box (cube a) x -> at_index o l x = masked_stack x) <->
  ~ subset_sum a tau.
Proof.
  split.
  - intros (o & l & Sh & K & H). apply (misses_box_iff a tau Ha L).
    exists (map (fun b => (lo b, hi b)) l). split.
    { rewrite <- Sh. clear - K. induction K; constructor; auto. }
    intros x B. pose proof (H x B) as Hx. rewrite (masked_stack_is x B) in Hx.
    assert (V : at_index o l x <> None <-> within (map (fun b => (lo b, hi b)) l) x).
    { clear Hx H K. rewrite <- Sh in B. clear Sh. revert x B.
      induction l as [|b l IH]; intros [|i x] B; simpl in *; try contradiction; [split; auto; discriminate|].
      destruct B as [_ B]. rewrite <- (IH x B). destruct (valid b i) eqn:E.
      - apply valid_iff in E. destruct (at_index o l x); simpl; intuition discriminate.
      - assert (~ lo b <= i < hi b) by (intro X; rewrite valid_true in E by auto; discriminate). tauto. }
    rewrite <- V, Hx. destruct (Z.eqb_spec (dot a x) tau); split; intro; try tauto; try discriminate; auto.
  - intro No. exists (W - tau), (map (fun t => Axis 2 t 0 2) a). split; [|split].
    + unfold shape, cube. rewrite map_map. reflexivity.
    + apply Forall_map, Forall_forall. intros t _. unfold view_axis. simpl. lia.
    + intros x B. rewrite (masked_stack_is x B).
      destruct (Z.eqb_spec (dot a x) tau) as [E|_]; [destruct No; exists x; auto|].
      clear - B. revert x B. generalize (W - tau) as o.
      induction a as [|t l IH]; intros o [|i x] B; simpl in *; try contradiction.
      { f_equal. lia. }
      destruct B as [Hi B]. rewrite valid_true by (simpl; lia). rewrite (IH o x B). simpl. f_equal. ring.
Qed.
End Masks.

(* ---- H1: no mask at all *)

Section Values.
Variables (a : list Z) (tau R q : Z).
Hypotheses (Ha : positive a) (L : (2 <= length a)%nat) (Ht : 0 <= tau).
Hypotheses (HR : total a + tau + 2 < R) (Hq : total a + tau + 2 < q).

(* carry terms 1, 1 and -1 at the cuts 1, R and q * R *)
Definition plain_inner := [(R, 1); (q, R + 1); (2, q * (R + 1) - 1)].
Definition plain_stack (x : list Z) := val plain_inner ((q - tau - 2) * R + (R - tau) + dot (map (Z.mul (R + 1)) a) x).

Lemma plain_stack_is x : box (cube a) x ->
  plain_stack x = (q - tau - 2) * R + (R - tau) + (q - tau - 2) + (R + 2) * dot a x + (if dot a x =? tau then 1 else 0).
Proof.
  intro B. pose proof (dot_cube a Ha x B) as D. unfold plain_stack. rewrite dot_scale.
  set (A := dot a x) in *. pose proof (gadget A (total a) tau R q D Ht HR Hq) as G.
  set (n := (q - tau - 2 + A) * R + (R - tau + A)) in G.
  replace ((q - tau - 2) * R + (R - tau) + (R + 1) * A) with n by (unfold n; ring).
  assert (Wf : wf plain_inner) by (unfold plain_inner; repeat constructor; simpl; lia).
  rewrite <- (carry_form plain_inner n Wf).
  - cbn [plain_inner terms sum]. rewrite Z.div_1_r, !Z.mul_1_l, (Z.mul_comm R q).
    remember (n / R) as u. remember (n / (q * R)) as v. rewrite <- G. unfold n. ring.
  - simpl. unfold n. assert (0 <= (q - tau - 2 + A) * R) by nia.
    assert ((q - tau - 2 + A) * R <= (2 * q - 2) * R) by nia. nia.
Qed.

Theorem values_are_hard : affine (cube a) plain_stack <-> ~ subset_sum a tau.
Proof.
  rewrite <- (indicator_affine_iff a tau Ha L). split; intros (c & b & Hb & H).
  - exists (c - ((q - tau - 2) * R + (R - tau) + (q - tau - 2))), (add b (map (Z.mul (- (R + 2))) a)).
    assert (E : length b = length (map (Z.mul (- (R + 2))) a)) by (rewrite map_length, Hb; apply cube_length).
    split; [rewrite add_length; auto|]. intros x B. rewrite dot_add, dot_scale by auto.
    pose proof (H x B) as X. rewrite (plain_stack_is x B) in X. lia.
  - exists (c + ((q - tau - 2) * R + (R - tau) + (q - tau - 2))), (add b (map (Z.mul (R + 2)) a)).
    assert (E : length b = length (map (Z.mul (R + 2)) a)) by (rewrite map_length, Hb; apply cube_length).
    split; [rewrite add_length; auto|]. intros x B. rewrite dot_add, dot_scale by auto.
    rewrite (plain_stack_is x B), (H x B). ring.
Qed.
End Values.
