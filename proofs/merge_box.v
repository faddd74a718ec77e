(* Theorem F on symbols: cuts a walk to the box where the masks of the inner view hold.

   What: `cut_to_valid`, `cut_block` and `cut_all` are the steps of merge_carries in engine/view/merging/merge_symbolic.cpp. Where
         the trace holds, the box is the set where the constraints of the blocks hold (cut_all_right).
   Why:  on that box the value has to be affine (merge_value.v), and elsewhere the stack is invalid. *)
Require Import ZArith Lia List Bool.
From Oriel Require Import mixed_radix carry_form masked_view canonicalize guards flat_form asking symbolic_view.
From Oriel Require Import merge_walk merge_value.
Import ListNotations.
Open Scope Z_scope.

Section Symbolic.
Context {assignment : Type}.
Notation program := (program assignment).
Notation size := (assignment -> Z).
Notation saxis := (@saxis assignment).
Notation mover := (@mover assignment).

Section Run.
Variable h : assignment.
Notation remainder_of := (remainder_of h).
Notation carry_free := (carry_free h).

(* ---- the box where lo <= n mod period < hi *)

Inductive boxed := Nothing | Box (base : size) (l : list mover) | Undecided.

(* `known n k`: n is k for all values in range that satisfy the guards. *)
Variable known : size -> Z -> bool.

(* The only axis with a slope that is not known to be 0, between those before it and behind it. *)
Fixpoint single (l : list (mover * size)) : option (list mover * (mover * size) * list mover) :=
  match l with
  | [] => None
  | (m, s) :: l =>
    if known s 0 then match single l with Some (a, c, b) => Some (m :: a, c, b) | None => None end
    else if forallb (fun p => known (snd p) 0) l then Some ([], (m, s), map fst l) else None
  end.

Definition ceil_quotient (a b : Z) := - ((- a) / b).

(* The j with lo <= b + s * j < hi begin here and end there. *)
Definition least_position (up : bool) (lo hi b s : size) : size :=
  fun x => if up then ceil_quotient (lo x - b x) (s x) else ceil_quotient (hi x - 1 - b x) (s x).
Definition beyond_position (up : bool) (lo hi b s : size) : size :=
  fun x => (if up then (hi x - 1 - b x) / s x else (lo x - b x) / s x) + 1.

(* The box on which lo <= n mod period < hi, where n is what `seen` walks from `from` on, over the box of l. *)
Definition cut_to_valid (from : size) (seen : list mover) (period lo hi base : size) (l : list mover) : program boxed :=
  let r := remainder_of from period seen in
  bind (carry_free r period) (fun free => if negb free then Ret Undecided else
  let all := fun x => (lo x <=? least r x) && (greatest r x <? hi x) in
  if all h then Ask all (fun b => Ret (if b then Box base l else Undecided)) else
  let none := fun x => (greatest r x <? lo x) || (hi x <=? least r x) in
  if none h then Ask none (fun b => Ret (if b then Nothing else Undecided)) else
  match single (combine l (slopes r)) with
  | None => Ret Undecided
  | Some (before, (m, s), behind) =>
    Ask (is s 0) (fun zero => if zero then Ret Undecided else
    Ask (fun x => 0 <? s x) (fun up =>
    let least := least_position up lo hi (begin r) s in
    let beyond := beyond_position up lo hi (begin r) s in
    Ask (fun x => 0 <? least x) (fun c => let first := if c then least else number 0 in
    Ask (fun x => beyond x <? width m x) (fun c => let last := if c then beyond else width m in
    Ask (fun x => last x <=? first x) (fun none => Ret (if none then Nothing else
      Box (fun x => base x + step m x * first x) (before ++
        Mover (upwards m) (step m) (fun x => last x - first x) (fun x => start m x + first x) :: behind)))))))
  end).

(* n / cut as a walk over the same box *)
Fixpoint over (cut : size) (l : list mover) (slopes : list size) : list mover :=
  match l, slopes with
  | m :: l, s :: slopes =>
    Mover (upwards m) (fun x => (step m x - s x) / cut x) (width m) (start m) :: over cut l slopes
  | _, _ => []
  end.

(* The unit in which the counts of a block are whole: a longer step of the walk. *)
Fixpoint unit_of (counts : list size) (unit : size) (l : list mover) : program size :=
  match l with
  | [] => Ret unit
  | m :: l =>
    if (unit h <? step m h) && forallb (fun n => known (fun x => n x mod step m x) 0) counts
    then Ask (fun x => 0 <? step m x) (fun up => unit_of counts (if up then step m else unit) l)
    else unit_of counts unit l
  end.

(* The digit n / unit decides; where n / unit is no walk, n itself. *)
Definition cut_block (b : saxis) (cut base : size) (l : list mover) : program boxed :=
  let period := fun x => cut x * s_extent b x in
  let lo := fun x => s_lo b x * cut x in
  let hi := fun x => s_hi b x * cut x in
  bind (unit_of [period; lo; hi] cut l) (fun unit =>
  let r := remainder_of base unit l in
  bind (carry_free r unit) (fun digits => if digits
    then cut_to_valid (fun x => (base x - begin r x) / unit x) (over unit l (slopes r)) (fun x => period x / unit x)
      (fun x => lo x / unit x) (fun x => hi x / unit x) base l
    else cut_to_valid base l period lo hi base l)).

Fixpoint cut_all (bs : list saxis) (cut base : size) (l : list mover) : program boxed :=
  match bs with
  | [] => Ret (Box base l)
  | b :: bs => let next := fun x => cut x * s_extent b x in
    bind (given h (full_axis b)) (fun full => if full then cut_all bs next base l else
    bind (cut_block b cut base l) (fun r =>
    match r with Box base l => cut_all bs next base l | r => Ret r end))
  end.

(* ---- at one assignment *)

Variable x : assignment.
Hypothesis known_right : forall n k, known n k = true -> n x = k.

Notation inside := (inside x).
Notation walked := (walked x).
Notation linear := (linear x).

(* l' from base' on is the part of l from base on where P holds *)
Definition part (base : size) (l : list mover) (P : list Z -> Prop) (base' : size) (l' : list mover) :=
  (forall y, inside l' y <-> inside l y /\ P y) /\
  (forall y, length y = length l -> base' x + walked l' y = base x + walked l y) /\
  Forall2 (fun m' m => start m x <= start m' x /\ start m' x + width m' x <= start m x + width m x) l' l.

Definition cut_right base l (P : list Z -> Prop) (r : boxed) :=
  match r with
  | Nothing => forall y, inside l y -> ~ P y
  | Box base' l' => part base l P base' l'
  | Undecided => True
  end.

Lemma part_same base l (P : list Z -> Prop) : (forall y, inside l y -> P y) -> part base l P base l.
Proof.
  intro H. split; [intro y; split; [auto | tauto]|]. split; auto. clear H. induction l; constructor; auto. lia.
Qed.

Lemma part_length base l P base' l' : part base l P base' l' -> length l' = length l.
Proof. intros (_ & _ & F). induction F; simpl; auto. Qed.

Lemma part_imp base l (P Q : list Z -> Prop) base' l' : (forall y, inside l y -> (Q y <-> P y)) ->
  part base l P base' l' -> part base l Q base' l'.
Proof. intros H (A & B & C). split; auto. intro y. rewrite A. specialize (H y). tauto. Qed.

Lemma part_part base l P base' l' Q base'' l'' : part base l P base' l' -> part base' l' Q base'' l'' ->
  part base l (fun y => P y /\ Q y) base'' l''.
Proof.
  intros H (A' & B' & C'). pose proof (part_length _ _ _ _ _ H) as L. destruct H as (A & B & C). split; [|split].
  - intro y. rewrite A', A. tauto.
  - intros y E. rewrite B', B by congruence. reflexivity.
  - clear -C C'. revert l C. induction C' as [|m'' m' l'' l' M C' IH]; intros l C; inversion C; subst; constructor;
      auto.
    lia.
Qed.

(* ---- cutting one axis *)

Lemma single_right lm : forall a m s b, single lm = Some (a, (m, s), b) ->
  map fst lm = a ++ m :: b /\ forall y, length y = length lm ->
  linear (map fst lm) (map snd lm) y = s x * (nth (length a) y 0 - start m x).
Proof.
  induction lm as [|[m' s'] lm IH]; intros a m s b H; simpl in H; [discriminate|]. destruct (known s' 0) eqn:K.
  - destruct (single lm) as [[[a' c'] b']|]; [|discriminate]. injection H as <- -> ->.
    destruct (IH a' m s b eq_refl) as [E M]. simpl. rewrite E. split; auto. intros [|j y] L; [discriminate|].
    simpl. rewrite (known_right s' 0 K), <- E, M by (simpl in L; congruence). ring.
  - destruct (forallb _ lm) eqn:F; [|discriminate]. injection H as <- <- <- <-. simpl. split; auto.
    intros [|j y] L; [discriminate|]. simpl. enough (linear (map fst lm) (map snd lm) y = 0) by lia.
    clear -F known_right. revert y. induction lm as [|[m s] lm IH]; intros [|j y]; simpl in *; auto.
    apply andb_true_iff in F. destruct F as [K F]. rewrite (known_right s 0 K), IH by auto. ring.
Qed.

Lemma cut_one a m m' b : step m' x = step m x -> start m x <= start m' x ->
  start m' x + width m' x <= start m x + width m x -> forall y,
  (inside (a ++ m' :: b) y <->
   inside (a ++ m :: b) y /\ start m' x <= nth (length a) y 0 < start m' x + width m' x) /\
  (length y = length (a ++ m :: b) ->
   step m x * (start m' x - start m x) + walked (a ++ m' :: b) y = walked (a ++ m :: b) y).
Proof.
  intros S L R. induction a as [|n a IH]; intros [|j y]; simpl; try (split; [tauto | discriminate]).
  - split; [|intros _; rewrite S; ring]. split; [intros [? ?]; repeat split; auto; lia | tauto].
  - destruct (IH y) as [A B]. split; [rewrite A; tauto|]. intro E. rewrite <- (B ltac:(congruence)). ring.
Qed.

Lemma cut_bounds a m m' b : start m x <= start m' x -> start m' x + width m' x <= start m x + width m x ->
  Forall2 (fun m' m => start m x <= start m' x /\ start m' x + width m' x <= start m x + width m x)
    (a ++ m' :: b) (a ++ m :: b).
Proof.
  intros L R. assert (Id : forall l, Forall2 (fun m' m => start m x <= start m' x /\
    start m' x + width m' x <= start m x + width m x) l l) by (induction l; constructor; auto; lia).
  apply Forall2_app; auto.
Qed.

Lemma ceil_quotient_up a b j : 0 < b -> (ceil_quotient a b <= j <-> a <= b * j).
Proof.
  intro B. unfold ceil_quotient. pose proof (Z.div_mod (- a) b ltac:(lia)). pose proof (Z.mod_pos_bound (- a) b B).
  split; intro; nia.
Qed.
Lemma ceil_quotient_down a b j : b < 0 -> (ceil_quotient a b <= j <-> b * j <= a).
Proof.
  intro B. unfold ceil_quotient. pose proof (Z.div_mod (- a) b ltac:(lia)). pose proof (Z.mod_neg_bound (- a) b B).
  split; intro; nia.
Qed.
Lemma quotient_up a b j : 0 < b -> (j < a / b + 1 <-> b * j <= a).
Proof.
  intro B. pose proof (Z.div_mod a b ltac:(lia)). pose proof (Z.mod_pos_bound a b B). split; intro; nia.
Qed.
Lemma quotient_down a b j : b < 0 -> (j < a / b + 1 <-> a <= b * j).
Proof.
  intro B. pose proof (Z.div_mod a b ltac:(lia)). pose proof (Z.mod_neg_bound a b B). split; intro; nia.
Qed.

Definition same_box (seen l : list mover) := Forall2 (fun a b => start a = start b /\ width a = width b) seen l.
Lemma same_inside seen l : same_box seen l -> forall y, inside seen y <-> inside l y.
Proof.
  induction 1 as [|a b seen l [S W] _ IH]; intros [|j y]; simpl; try tauto. rewrite S, W, IH. tauto.
Qed.
Lemma same_linear seen l : same_box seen l -> forall s y, linear seen s y = linear l s y.
Proof.
  induction 1 as [|a b seen l [S W] _ IH]; intros [|t s] [|j y]; simpl; auto. rewrite S, IH. reflexivity.
Qed.
Lemma same_length seen l : same_box seen l -> length seen = length l.
Proof. induction 1; simpl; auto. Qed.

Lemma cut_to_valid_right from seen period lo hi base l : 0 < period x -> same_box seen l ->
  ensures h x (cut_to_valid from seen period lo hi base l)
    (cut_right base l (fun y => lo x <= (from x + walked seen y) mod period x < hi x)).
Proof.
  intros C Same. unfold cut_to_valid. set (r := remainder_of from period seen). by_bind.
  apply (ensures_weaken _ _ _ _ _ (carry_free_right h x r period)). intros [] N; [|by_ret; exact I].
  specialize (N eq_refl). cbv zeta. cbn [negb].
  assert (M : forall y, inside l y -> (from x + walked seen y) mod period x = begin r x + linear l (slopes r) y /\
    least r x <= begin r x + linear l (slopes r) y <= greatest r x).
  { intros y Iy. apply (same_inside seen l Same) in Iy. rewrite <- (same_linear seen l Same).
    destruct (never_right h x from period seen C N y Iy) as (E & _ & B). split; [exact E | exact B]. }
  destruct ((lo h <=? least r h) && (greatest r h <? hi h)).
  { apply ensures_ask; intros b _ E. by_ret. destruct b; [|exact I]. rewrite andb_true_iff, Z.leb_le, Z.ltb_lt in E.
    apply part_same. intros y Iy. destruct (M y Iy) as (-> & B). lia. }
  destruct ((greatest r h <? lo h) || (hi h <=? least r h)).
  { apply ensures_ask; intros b _ E. by_ret. destruct b; [|exact I]. rewrite orb_true_iff, Z.leb_le, Z.ltb_lt in E.
    intros y Iy. destruct (M y Iy) as (-> & B). lia. }
  destruct (single _) as [[[a [m s]] b]|] eqn:S; [|by_ret; exact I].
  assert (L : length l = length (slopes r)) by (rewrite <- (same_length seen l Same); symmetry; apply map_length).
  destruct (single_right _ _ _ _ _ S) as [E V]. rewrite combine_length, <- L, Nat.min_id in V.
  assert (F : map fst (combine l (slopes r)) = l).
  { clear -L. revert L. generalize (slopes r). induction l as [|m l IH]; intros [|s t] L; simpl in *; try discriminate;
      auto.
    f_equal. apply IH. congruence. }
  assert (G : map snd (combine l (slopes r)) = slopes r).
  { clear -L. revert L. generalize (slopes r). induction l as [|m l IH]; intros [|s t] L; simpl in *; try discriminate;
      auto.
    f_equal. apply IH. congruence. }
  rewrite F, G in V. rewrite F in E. clear F G S.
  apply ensures_ask; intros zero _ Z0. destruct zero; [by_ret; exact I|]. apply Z.eqb_neq in Z0.
  apply ensures_ask; intros up _ Up.
  set (first0 := least_position _ _ _ _ _). set (beyond := beyond_position _ _ _ _ _).
  (* on the box, the constraint is a range of positions on this one axis *)
  assert (P : forall y, inside l y -> (lo x <= (from x + walked seen y) mod period x < hi x <->
    first0 x <= nth (length a) y 0 - start m x < beyond x)).
  { intros y Iy. destruct (M y Iy) as (-> & _). rewrite (V y (inside_length x l y Iy)).
    unfold first0, beyond, least_position, beyond_position. set (j := nth (length a) y 0 - start m x). destruct up.
    - apply Z.ltb_lt in Up. rewrite ceil_quotient_up, quotient_up by lia. lia.
    - apply Z.ltb_ge in Up. rewrite ceil_quotient_down, quotient_down by lia. lia. }
  clearbody first0 beyond. apply ensures_ask; intros c1 _ C1. apply ensures_ask; intros c2 _ C2.
  apply ensures_ask; intros none _ E0. by_ret.
  set (first := if c1 then first0 else number 0) in *. set (last := if c2 then beyond else width m) in *.
  assert (B : 0 <= first x /\ last x <= width m x /\ forall j, 0 <= j < width m x ->
    (first0 x <= j < beyond x <-> first x <= j < last x)).
  { clear -C1 C2. unfold first, last, number.
    destruct c1; [apply Z.ltb_lt in C1 | apply Z.ltb_ge in C1]; (destruct c2;
      [apply Z.ltb_lt in C2 | apply Z.ltb_ge in C2]);
      cbv beta iota; repeat split; intros; lia. }
  destruct B as (B1 & B2 & B3).
  assert (At : forall y, inside l y -> 0 <= nth (length a) y 0 - start m x < width m x).
  { rewrite E. clear. induction a as [|n a IH]; intros [|j y] Iy; simpl in *; try tauto; [lia|]. apply IH, Iy. }
  destruct none; simpl.
  - apply Z.leb_le in E0. intros y Iy. rewrite P, B3 by auto. lia.
  - set (m' := Mover _ _ _ _). pose proof (fun b => cut_one a m m' b eq_refl) as Cut. simpl in Cut.
    split; [|split].
    + intro y. destruct (Cut b ltac:(lia) ltac:(lia) y) as [X _]. rewrite X, <- E. split; intros [Iy Q]; split; auto.
      * rewrite P, B3 by auto. lia.
      * rewrite P, B3 in Q by auto. lia.
    + intros y Ly. destruct (Cut b ltac:(lia) ltac:(lia) y) as [_ X]. rewrite E.
      rewrite <- X by (rewrite <- E; exact Ly).
      ring.
    + rewrite E. apply cut_bounds; simpl; lia.
Qed.

(* ---- one constraint, by digits where n / cut is a walk *)

Lemma over_same cut l : forall slopes, length slopes = length l -> same_box (over cut l slopes) l.
Proof.
  induction l as [|m l IH]; intros [|s slopes] L; simpl in *; try discriminate; constructor; auto. apply IH. congruence.
Qed.
Lemma walked_over cut l : forall slopes y, walked (over cut l slopes) y = quotient x cut l slopes y.
Proof. induction l as [|m l IH]; intros [|s slopes] [|j y]; simpl; auto. rewrite IH. reflexivity. Qed.

Lemma cut_right_imp base l (P Q : list Z -> Prop) r : (forall y, inside l y -> (Q y <-> P y)) ->
  cut_right base l P r -> cut_right base l Q r.
Proof.
  intros H. destruct r as [|base' l'|]; simpl; auto; [|apply part_imp, H].
  intros R y Iy X. apply (R y Iy), (H y Iy), X.
Qed.

Definition unit_for (counts : list size) (u : size) :=
  0 < u x /\ Forall (fun n : size => n x = u x * (n x / u x)) counts.
Lemma unit_of_right counts l : forall unit, unit_for counts unit ->
  ensures h x (unit_of counts unit l) (unit_for counts).
Proof.
  induction l as [|m l IH]; intros unit U; simpl; [by_ret; exact U|].
  destruct (_ && _) eqn:D; [|apply IH, U]. apply andb_true_iff in D. destruct D as [_ D].
  apply ensures_ask. intros up _ Up. apply IH. destruct up; [|exact U]. apply Z.ltb_lt in Up. split; [exact Up|].
  apply Forall_forall. intros n In. rewrite forallb_forall in D. apply Z_div_exact_full_2; [lia|].
  exact (known_right _ _ (D n In)).
Qed.

Lemma cut_block_right b cut base l : 0 < cut x -> 0 < s_extent b x ->
  ensures h x (cut_block b cut base l) (cut_right base l (fun y =>
    s_lo b x * cut x <= (base x + walked l y) mod (cut x * s_extent b x) < s_hi b x * cut x)).
Proof.
  intros C S. unfold cut_block. set (period := fun x => cut x * s_extent b x). set (lo := fun x => s_lo b x * cut x).
  set (hi := fun x => s_hi b x * cut x). assert (P0 : 0 < period x) by (unfold period; nia).
  by_bind. eapply ensures_weaken; [apply (unit_of_right [period; lo; hi] l cut)|].
  { split; [exact C|]. unfold period, lo, hi. repeat constructor; [rewrite (Z.mul_comm (cut x))| |];
      rewrite Z.div_mul by lia; lia. }
  intros unit [U Counts]. inversion Counts as [|? ? E Counts1]; subst. inversion Counts1 as [|? ? L Counts2]; subst.
  inversion Counts2 as [|? ? H _]; subst. clear Counts Counts1 Counts2. by_bind.
  apply (ensures_weaken _ _ _ _ _ (carry_free_right h x (remainder_of base unit l) unit)). intros [] N.
  - specialize (N eq_refl). pose proof (never_right h x base unit l U N) as M. cbv zeta in M.
    set (r := remainder_of base unit l) in *.
    assert (Same : same_box (over unit l (slopes r)) l) by (apply over_same, map_length).
    assert (P1 : 0 < period x / unit x) by nia.
    eapply ensures_weaken; [apply (cut_to_valid_right (fun x => (base x - begin r x) / unit x) (over unit l (slopes r))
      (fun x => period x / unit x) (fun x => lo x / unit x) (fun x => hi x / unit x) base l P1 Same)|]. intro found.
    apply cut_right_imp. intros y Iy. rewrite walked_over. destruct (M y Iy) as (_ & <- & _).
    rewrite (digit_constraint (unit x)) by assumption.
    change (cut x * s_extent b x) with (period x). change (s_lo b x * cut x) with (lo x).
    change (s_hi b x * cut x) with (hi x). rewrite <- E, !(Z.mul_comm _ (unit x)), <- L, <- H. reflexivity.
  - apply cut_to_valid_right; [exact P0|]. clear. induction l; constructor; auto.
Qed.

(* ---- all constraints *)

Lemma full_holds b cut n : 0 < s_extent b x -> 0 < cut -> full_axis b x = true ->
  holds n (Constraint (cut * s_extent b x) (s_lo b x * cut) (s_hi b x * cut)).
Proof.
  unfold full_axis, full, holds. rewrite andb_true_iff, !Z.eqb_eq. simpl. intros S C [-> ->].
  pose proof (Z.mod_pos_bound n (cut * s_extent b x) ltac:(nia)). lia.
Qed.

Theorem cut_all_right bs : Forall (fun b => 0 < s_extent b x) bs -> forall cut base l, 0 < cut x ->
  ensures h x (cut_all bs cut base l)
    (cut_right base l (fun y => Forall (holds (base x + walked l y)) (constraints (axes_at x bs) (cut x)))).
Proof.
  induction 1 as [|b bs S Hs IH]; intros cut base l C; simpl cut_all.
  { by_ret. apply part_same. constructor. }
  pose proof (IH (fun x => cut x * s_extent b x) base l ltac:(simpl; nia)) as Rest. by_given.
  { apply (ensures_weaken _ _ _ _ _ Rest). intros r R.
    assert (Q : forall y, Forall (holds (base x + walked l y)) (constraints (axes_at x (b :: bs)) (cut x)) <->
      Forall (holds (base x + walked l y)) (constraints (axes_at x bs) (cut x * s_extent b x))).
    { intro y. simpl. rewrite Forall_cons_iff. pose proof (full_holds b (cut x) (base x + walked l y) S C). tauto. }
    destruct r as [|base' l'|]; simpl in *; auto.
    - intros y Iy. rewrite Q. apply R, Iy.
    - revert R. apply part_imp. intros y _. apply Q. }
  clear Rest. by_bind.
  apply (ensures_weaken _ _ _ _ _ (cut_block_right b cut base l C S)).
  intros [|base' l'|] R; cbn [cut_right] in R; [by_ret | | by_ret; exact I].
  - simpl. intros y Iy X. inversion X; subst. apply (R y Iy). assumption.
  - apply (ensures_weaken _ _ _ _ _ (IH (fun x => cut x * s_extent b x) base' l' ltac:(simpl; nia))).
    pose proof (part_length _ _ _ _ _ R) as Len. pose proof R as (A & B & _).
    intros [|base'' l''|] R'; cbn [cut_right] in *; auto.
    + intros y Iy X. simpl in X. inversion X as [|? ? X1 X2]; subst.
      assert (Iy' : inside l' y) by (apply A; auto). apply (R' y Iy').
      rewrite B by (apply (inside_length x), Iy). exact X2.
    + revert R'. intro R'. pose proof (part_part _ _ _ _ _ _ _ _ R R') as Q. revert Q. apply part_imp.
      intros y Iy. rewrite B by (apply (inside_length x), Iy). simpl. rewrite Forall_cons_iff. reflexivity.
Qed.

End Run.
End Symbolic.
