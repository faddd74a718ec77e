(* The adjoint of nested axes as masked views of the cotangent, and how many terms windows need.

   What: if each step divides the one before it, an element is a block and places in it, and the digits of its number
         are the index (blocks_right). So one masked view reads the cotangent at each element (block_adjoint). Nested
         axes with other steps are joined from the inside, by one masked view for each of them (joined_adjoint). A sum
         of such readings needs as many terms as indices show some element (terms_needed). Windows need as many as
         window_adjoint has (window_terms_needed).
   Why:  engine/grad/adjoint.cpp takes blocks where it can (in_blocks, fill), because every factor of a product then has
         an axis for each digit, and no zeros on the digits on which it does not depend. Else it joins (join). *)
Require Import ZArith Lia List Bool.
From Oriel Require Import mixed_radix masked_view affine view_adjoint adjoint_nesting adjoint_windows.
Import ListNotations.
Open Scope Z_scope.

(* ---- a view of digits in two parts *)

Lemma numel_two_parts l m : numel (l ++ m) = numel l * numel m.
Proof. induction l as [|a l IH]; simpl; [destruct (numel m); reflexivity | rewrite IH; ring]. Qed.

Lemma sized_numel l : Forall (fun a => 1 <= extent a) l -> 1 <= numel l.
Proof. induction 1; simpl; nia. Qed.

Lemma at_flat_two_parts l m o : Forall (fun a => 1 <= extent a) l -> forall n,
  at_flat o (l ++ m) n =
  match at_flat 0 l (n mod numel l) with Some v => plus v (at_flat o m (n / numel l)) | None => None end.
Proof.
  induction 1 as [|a l Ha F IH]; intro n; simpl.
  - rewrite Z.div_1_r, plus_zero. reflexivity.
  - pose proof (sized_numel l F). destruct (two_digits n (extent a) (numel l)) as [M D]; [lia..|].
    destruct (unravel_ravel ((n / extent a) mod numel l) (n mod extent a) (extent a)) as [U V];
      [apply Z.mod_pos_bound; lia|].
    rewrite M, U, V, D, IH. destruct (valid a _); auto.
    destruct (at_flat 0 l _) as [v|]; simpl; auto. apply plus_plus.
Qed.

(* ---- blocks *)

(* The row-major number of an index whose outermost axis comes first. *)
Fixpoint index_number (e i : list Z) : Z :=
  match e, i with
  | n :: e, k :: i => product e * k + index_number e i
  | _, _ => 0
  end.

Fixpoint divided (room : Z) (t : list Z) : Prop :=
  match t with
  | [] => True
  | a :: t => (a | room) /\ divided a t
  end.

(* [0, room) as digits, the innermost first: which elements of the smallest step have an index, and for each axis which
   of its places have one. *)
Fixpoint blocks (room : Z) (t e : list Z) : list axis :=
  match t, e with
  | a :: t, n :: e => blocks a t e ++ [Axis (room / a) (product e) 0 n]
  | _, _ => [Axis room 0 0 1]
  end.

Lemma reach_positive t : forall e, positive e -> nested t e -> 0 <= reach t e.
Proof.
  intros e P N. destruct (nested_reach t e (origin e) N (box_origin e P)). rewrite dot_origin in *. lia.
Qed.

Lemma blocks_form t : forall e room, divided room t -> nested t e -> positive e -> reach t e < room ->
  Forall ok (blocks room t e) /\ numel (blocks room t e) = room.
Proof.
  induction t as [|a t IH]; intros [|n e] room; simpl; try contradiction.
  - intros _ _ _ H. split; [constructor; [|constructor]; unfold ok; simpl; lia | lia].
  - intros [[c ->] D] [Ha N] P H. inversion P as [|? ? Hn Pe]; subst. pose proof (reach_positive t e Pe N).
    destruct (IH e a D N Pe Ha) as [O E]. rewrite Z.div_mul by lia. split.
    + apply Forall_app. split; auto. constructor; [|constructor]. unfold ok. simpl. nia.
    + rewrite numel_two_parts, E. simpl. lia.
Qed.

Theorem blocks_right t : forall e room p, divided room t -> nested t e -> positive e -> reach t e < room ->
  0 <= p < room -> at_flat 0 (blocks room t e) p = option_map (index_number e) (greedy t e p).
Proof.
  induction t as [|a t IH]; intros [|n e] room p; simpl; try contradiction.
  - intros _ _ _ _ H. rewrite Z.mod_small by lia. unfold valid. simpl.
    destruct (Z.leb_spec 0 p), (Z.ltb_spec p 1), (Z.eqb_spec p 0); simpl; auto; lia.
  - intros [[c ->] D] [Ha N] P H Hp. inversion P as [|? ? Hn Pe]; subst. pose proof (reach_positive t e Pe N).
    destruct (blocks_form t e a D N Pe Ha) as [O E].
    assert (S : Forall (fun a => 1 <= extent a) (blocks a t e)) by (eapply Forall_impl; [|exact O]; unfold ok; lia).
    rewrite (at_flat_two_parts _ _ _ S), E, IH by (auto; apply Z.mod_pos_bound; lia).
    assert (Q : 0 <= p / a < c) by (split; [apply Z.div_pos | apply Z.div_lt_upper_bound]; lia).
    simpl. rewrite Z.div_mul, (Z.mod_small (p / a)) by lia. unfold valid. simpl.
    destruct ((0 <=? p / a) && (p / a <? n)).
    + destruct (greedy t e (p mod a)); simpl; auto. f_equal. lia.
    + destruct (greedy t e (p mod a)); reflexivity.
Qed.

Theorem block_adjoint {R : numbers} o t e room (g : Z -> R) p : divided room t -> nested t e -> positive e ->
  reach t e < room -> 0 <= p - o < room ->
  adjoint (indices e) (strided o t) (fun i => g (index_number e i)) p =
  match at_flat 0 (blocks room t e) (p - o) with Some k => g k | None => zero end.
Proof.
  intros D N P H Hp. rewrite nested_adjoint, blocks_right by auto. destruct (greedy t e (p - o)); reflexivity.
Qed.

(* ---- any nested axes, as one axis *)

(* Elements up to the last index, with all places of its block. *)
Definition joined_length (t e : list Z) : Z :=
  match t, e with
  | a :: _, n :: _ => n * a
  | _, _ => 1
  end.

(* What is inside each index becomes a block of a elements, cropped or padded. `outer` counts the indices before. *)
Fixpoint joined (outer : Z) (t e : list Z) : Z -> option Z :=
  match t, e with
  | a :: t, n :: e =>
    let inside := joined_length t e in
    after (joined (outer * n) t e)
      (at_flat 0 [Axis a 1 0 (Z.min a inside); Axis (outer * n) inside 0 (outer * n)])
  | _, _ => Some
  end.

Lemma reach_joined t e : nested t e -> reach t e < joined_length t e.
Proof. destruct t as [|a t], e as [|n e]; simpl; try contradiction; nia. Qed.

Theorem joined_right t : forall e outer k p, nested t e -> positive e -> 0 <= k < outer -> 0 <= p < joined_length t e ->
  joined outer t e (k * joined_length t e + p) =
  option_map (fun i => k * product e + index_number e i) (greedy t e p).
Proof.
  induction t as [|a t IH]; intros [|n e] outer k p; try contradiction.
  - simpl. intros _ _ _ H. replace p with 0 by lia. reflexivity.
  - intros [Ha N] P Hk Hp. inversion P as [|? ? Hn Pe]; subst. pose proof (reach_positive t e Pe N).
    cbn [joined_length] in *. cbn [joined greedy]. unfold after.
    assert (Q : 0 <= p / a < n) by (split; [apply Z.div_pos | apply Z.div_lt_upper_bound]; lia).
    pose proof (Z.mod_pos_bound p a ltac:(lia)) as M.
    replace (k * (n * a) + p) with (a * (k * n + p / a) + p mod a) by
      (pose proof (ravel_unravel p a ltac:(lia)); lia).
    rewrite at_flat_digit by (cbn [extent]; lia). cbn [at_flat extent stride].
    rewrite (Z.mod_small (k * n + p / a)), (valid_true (Axis (outer * n) _ _ _)) by (cbn [lo hi]; nia).
    destruct (Z.leb_spec 0 (p / a)); [|lia]. destruct (Z.ltb_spec (p / a) n); [|lia]. cbn [andb].
    destruct (Z.ltb_spec (p mod a) (joined_length t e)) as [L|L].
    + rewrite valid_true by (cbn [lo hi]; lia). cbn [plus].
      replace (1 * (p mod a) + (joined_length t e * (k * n + p / a) + 0)) with
        ((k * n + p / a) * joined_length t e + p mod a) by ring.
      rewrite IH by (auto; nia). destruct (greedy t e (p mod a)); simpl; auto. f_equal. unfold product. simpl. ring.
    + rewrite valid_false by (cbn [lo hi]; lia). destruct (greedy t e (p mod a)) as [i|] eqn:E; auto.
      apply greedy_iff in E; auto. destruct E as [B D]. pose proof (nested_reach t e i N B).
      pose proof (reach_joined t e N). lia.
Qed.

Theorem joined_adjoint {R : numbers} o t e (g : Z -> R) p : nested t e -> positive e ->
  0 <= p - o < joined_length t e ->
  adjoint (indices e) (strided o t) (fun i => g (index_number e i)) p =
  match joined 1 t e (p - o) with Some k => g k | None => zero end.
Proof.
  intros N P Hp. rewrite nested_adjoint by auto. pose proof (joined_right t e 1 0 (p - o) N P ltac:(lia) Hp) as J.
  rewrite Z.mul_0_l, Z.add_0_l in J. rewrite J. destruct (greedy t e (p - o)); reflexivity.
Qed.

Lemma outside_joined {R : numbers} o t e (g : list Z -> R) p : nested t e -> ~ 0 <= p - o < joined_length t e ->
  adjoint (indices e) (strided o t) g p = zero.
Proof.
  intros N Hp. rewrite nested_adjoint by auto. destruct (greedy t e (p - o)) as [i|] eqn:E; auto.
  apply greedy_iff in E; auto. destruct E as [B D]. pose proof (nested_reach t e i N B).
  pose proof (reach_joined t e N). lia.
Qed.

(* ---- how many terms it takes *)

Definition integers : numbers := Numbers Z 0 Z.add Z.add_comm Z.add_assoc Z.add_0_r.

Lemma filter_shorter {A} (c : A -> bool) l : (length (filter c l) <= length l)%nat.
Proof. induction l as [|a l IH]; simpl; auto. destruct (c a); simpl; lia. Qed.

Lemma total_ones {I} (l : list I) (c : I -> bool) :
  total (R := integers) l (fun i => if c i then 1 else 0) = Z.of_nat (length (filter c l)).
Proof. induction l as [|i l IH]; simpl in *; auto. rewrite IH. destruct (c i); simpl length; lia. Qed.

(* l: terms, each of which reads the cotangent once at most; shown: indices that show p *)
Theorem terms_needed {I P T} `{Decidable P} (l : list I) (v : I -> option P) p (shown : list I) (terms : list T)
  (read : T -> option I) : NoDup shown -> (forall i, In i shown -> In i l /\ v i = Some p) ->
  (forall g : I -> integers,
    adjoint l v g p = total terms (fun j => match read j with Some i => g i | None => zero end)) ->
  (length shown <= length terms)%nat.
Proof.
  intros N S E. specialize (E (fun _ => 1)).
  set (here := fun i => match v i with Some q => if same q p then true else false | None => false end).
  assert (L : adjoint (R := integers) l v (fun _ => 1) p = Z.of_nat (length (filter here l))).
  { rewrite <- total_ones. apply total_ext. intros i _. unfold here, where_shown. destruct (v i) as [q|]; auto.
    destruct (same q p); reflexivity. }
  assert (U : total (R := integers) terms (fun j => match read j with Some _ => 1 | None => 0 end) =
    Z.of_nat (length (filter (fun j => match read j with Some _ => true | None => false end) terms))).
  { rewrite <- total_ones. apply total_ext. intros j _. destruct (read j); reflexivity. }
  assert (In_here : (length shown <= length (filter here l))%nat).
  { apply NoDup_incl_length; auto. intros i Hi. destruct (S i Hi) as [Hl V]. apply filter_In. split; auto.
    unfold here. rewrite V. destruct (same p p); congruence. }
  pose proof (filter_shorter (fun j => match read j with Some _ => true | None => false end) terms) as Most.
  change (@zero integers) with 0 in E. rewrite L, U in E. lia.
Qed.

Corollary window_terms_needed o a r m k : 0 < r -> 1 <= k -> (k + r - 1) / r <= m ->
  exists p, forall T (terms : list T) (read : T -> option (list Z)),
    (forall g : list Z -> integers, adjoint (indices [m; k]) (strided o [a * r; a]) g p =
       total terms (fun j => match read j with Some i => g i | None => zero end)) ->
    (k + r - 1) / r <= Z.of_nat (length terms).
Proof.
  intros Hr Hk Hm. set (parts := (k + r - 1) / r) in *. exists (o + a * r * (parts - 1)). intros T terms read E.
  assert (B : r * (parts - 1) < k) by (unfold parts; pose proof (Z.mul_div_le (k + r - 1) r Hr); lia).
  assert (0 <= parts) by (apply Z.div_pos; lia).
  pose proof (terms_needed (indices [m; k]) (strided o [a * r; a]) (o + a * r * (parts - 1))
    (map (fun q => [parts - 1 - q; r * q]) (range parts)) terms read) as L.
  rewrite map_length in L. rewrite <- (range_length parts) by auto. apply inj_le, L; auto.
  - apply FinFun.Injective_map_NoDup; [|apply range_once]. intros q q' [= Q _]. lia.
  - intros i Hi. apply in_map_iff in Hi. destruct Hi as (q & <- & Hq). apply in_range in Hq. split.
    + apply in_indices. simpl. nia.
    + unfold strided. simpl. f_equal. ring.
Qed.
