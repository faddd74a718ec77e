(* An interval as a box of digits, on symbols.

   What: `interval_masks` is split_interval in engine/view/reshape.cpp: the test of interval_box.v as a program, with
         the
         ranges of the digits. Where its trace holds, they are the interval (interval_masks_right).
   Why:  a reshape of a masked view splits the valid interval of a block into digits. *)
Require Import ZArith Lia List Bool.
From Oriel Require Import mixed_radix masked_view canonical_unique canonicalize interval_box guards asking.
From Oriel Require Import symbolic_view.
From Oriel Require Import symbolic_blocks.
Import ListNotations.
Open Scope Z_scope.

Section Symbolic.
Context {assignment : Type}.
Notation program := (program assignment).
Notation size := (assignment -> Z).
Notation saxis := (@saxis assignment).

Section Run.
Variable h : assignment.

(* The interval [lo, hi) of `row` positions as a box of digits. M: the digits, most significant first. *)
Fixpoint interval_masks (row lo hi : size) (M : list size) : program (option (list (size * size))) :=
  match M with
  | [] => Ret (Some [])
  | r :: M =>
    let next := fun x => row x / r x in
    let top := fun x => lo x / next x in
    Ask (fun x => hi x <=? (top x + 1) * next x) (fun same_row => if same_row
    then bind (interval_masks next (fun x => lo x - top x * next x) (fun x => hi x - top x * next x) M) (fun ms =>
      Ret (option_map (cons (top, fun x => top x + 1)) ms))
    else Ask (fun x => (lo x mod next x =? 0) && (hi x mod next x =? 0)) (fun whole => if whole
    then bind (interval_masks next (number 0) next M) (fun ms =>
      Ret (option_map (cons (top, fun x => (hi x - 1) / next x + 1)) ms))
    else Ret None))
  end.

(* ---- at one assignment *)

Definition sizes_at (x : assignment) (l : list size) := map (fun n : size => n x) l.
Definition masks_at (x : assignment) (l : list (size * size)) := map (fun p : size * size => (fst p x, snd p x)) l.

Variable x : assignment.

(* ---- masks of digits *)

Lemma same_row_digits R r m lo hi top : positive R -> 0 <= lo < hi -> top = lo / product R ->
  hi <= (top + 1) * product R -> hi <= r * product R -> proper R m ->
  (forall y, box R y -> (lo - top * product R <= ravel R y < hi - top * product R <-> within m y)) ->
  proper (R ++ [r]) (m ++ [(top, top + 1)]) /\
  forall y, box (R ++ [r]) y -> (lo <= ravel (R ++ [r]) y < hi <-> within (m ++ [(top, top + 1)]) y).
Proof.
  intros HR Hl T Ht Hr P H. pose proof (product_positive R HR) as Hw. set (w := product R) in *.
  pose proof (Z.div_mod lo w ltac:(lia)) as D. pose proof (Z.mod_pos_bound lo w ltac:(lia)). rewrite <- T in D. split.
  { apply Forall2_app; [exact P | constructor; [|constructor]]. simpl.
    assert (0 <= top) by (rewrite T; apply Z.div_pos; lia). nia. }
  intros y B. destruct (top_digit _ _ _ B) as (z & i & -> & Bz & Hi & ->). fold w.
  rewrite within_app by (rewrite (proper_length _ _ P); symmetry; apply box_length, Bz). rewrite <- (H z Bz).
  pose proof (ravel_range R z Bz) as Hz. fold w in Hz. simpl. split.
  - intro X. assert (i = top) by nia. subst i. lia.
  - intros (X & Y & _). assert (i = top) by lia. subst i. lia.
Qed.

Lemma whole_row_digits R r m lo hi : positive R -> 0 <= lo < hi -> lo mod product R = 0 -> hi mod product R = 0 ->
  hi <= r * product R -> proper R m -> (forall y, box R y -> (0 <= ravel R y < product R <-> within m y)) ->
  let p := lo / product R in
  let q := (hi - 1) / product R + 1 in
  proper (R ++ [r]) (m ++ [(p, q)]) /\
  forall y, box (R ++ [r]) y -> (lo <= ravel (R ++ [r]) y < hi <-> within (m ++ [(p, q)]) y).
Proof.
  intros HR Hl Ml Mh Hr P H p q. pose proof (product_positive R HR) as Hw. set (w := product R) in *.
  pose proof (Z.div_mod lo w ltac:(lia)) as Dl. pose proof (Z.div_mod hi w ltac:(lia)) as Dh.
  assert (Q : q = hi / w).
  { unfold q. enough ((hi - 1) / w = hi / w - 1) by lia. symmetry. apply (Z.div_unique _ _ _ (w - 1)); lia. }
  fold p in Dl. rewrite <- Q in Dh. rewrite Ml, Mh, Z.add_0_r in *. split.
  { apply Forall2_app; [exact P | constructor; [|constructor]]. simpl.
    assert (0 <= p) by (apply Z.div_pos; lia). nia. }
  intros y B. destruct (top_digit _ _ _ B) as (z & i & -> & Bz & Hi & ->). fold w.
  rewrite within_app by (rewrite (proper_length _ _ P); symmetry; apply box_length, Bz). rewrite <- (H z Bz).
  pose proof (ravel_range R z Bz) as Hz. fold w in Hz. simpl. rewrite Dl, Dh. split; intro X; nia.
Qed.

(* the masks at x are the interval, as a box of digits *)
Definition digits_right (M : list size) (lo hi : Z) (r : option (list (size * size))) :=
  match r with
  | None => True
  | Some ms => proper (rev (sizes_at x M)) (rev (masks_at x ms)) /\
      forall y, box (rev (sizes_at x M)) y ->
        (lo <= ravel (rev (sizes_at x M)) y < hi <-> within (rev (masks_at x ms)) y)
  end.

Lemma interval_masks_right M : positive (sizes_at x M) -> forall row lo hi, row x = product (sizes_at x M) ->
  0 <= lo x < hi x -> hi x <= row x -> ensures h x (interval_masks row lo hi M) (digits_right M (lo x) (hi x)).
Proof.
  induction M as [|r M IH]; intros HM row lo hi Er Hl Hh; simpl interval_masks.
  { by_ret. split; [constructor|]. unfold product in Er. simpl in *. intros [|? ?] B; [|contradiction]. simpl. lia. }
  inversion HM as [|? ? Hr HM']; subst. specialize (IH HM').
  assert (Er' : row x = r x * product (sizes_at x M)) by exact Er.
  assert (HR : positive (rev (sizes_at x M))) by (apply positive_rev, HM').
  pose proof (product_positive _ HM') as Hw.
  assert (N : row x / r x = product (sizes_at x M)) by (rewrite Er', Z.mul_comm; apply Z.div_mul; lia).
  assert (PR : product (rev (sizes_at x M)) = product (sizes_at x M)) by apply product_rev.
  apply ensures_ask; cbv beta; intros same _ S. rewrite N in S. destruct same.
  - apply Z.leb_le in S. by_bind. pose proof (Z.div_mod (lo x) (product (sizes_at x M)) ltac:(lia)) as D.
    pose proof (Z.mod_pos_bound (lo x) (product (sizes_at x M)) ltac:(lia)).
    eapply ensures_weaken; [apply IH; cbv beta; rewrite ?N; try reflexivity; lia|].
    cbv beta. rewrite !N. intros [ms|] G; by_ret; [|exact I]. destruct G as [P G]. simpl. rewrite N.
    apply same_row_digits; rewrite ?PR; auto; lia.
  - apply Z.leb_gt in S. apply ensures_ask; cbv beta; intros whole _ W. rewrite N in W.
    destruct whole; [|by_ret; exact I].
    rewrite andb_true_iff, !Z.eqb_eq in W. destruct W as [W1 W2]. by_bind.
    eapply ensures_weaken; [apply IH; unfold number; rewrite ?N; try reflexivity; lia|].
    cbv beta. rewrite !N. intros [ms|] G; by_ret; [|exact I]. destruct G as [P G]. simpl. rewrite N.
    pose proof (whole_row_digits (rev (sizes_at x M)) (r x) (rev (masks_at x ms)) (lo x) (hi x)) as X. cbv zeta in X.
    rewrite !PR in X. apply X; auto. lia.
Qed.

(* An interval that has positions for the hints has some at x: it lies in one row at every digit, or a condition says
         so. *)
Lemma interval_nonempty M : positive (sizes_at h M) -> positive (sizes_at x M) -> forall row lo hi,
  row h = product (sizes_at h M) -> row x = product (sizes_at x M) -> 0 <= lo h < hi h -> hi h <= row h ->
  (hi h - lo h = 1 -> hi x - lo x = 1) -> ensures h x (interval_masks row lo hi M) (fun _ => lo x < hi x).
Proof.
  induction M as [|r M IH]; intros Hh Hx row lo hi Eh Ex Hl Hr One; simpl interval_masks.
  { by_ret. unfold product in Eh. simpl in Eh. lia. }
  inversion Hh as [|? ? Rh Hh']; subst. inversion Hx as [|? ? Rx Hx']; subst.
  pose proof (product_positive _ Hh') as Wh. pose proof (product_positive _ Hx') as Wx.
  assert (Nh : row h / r h = product (sizes_at h M)).
  { rewrite Eh. change (product (sizes_at h (r :: M))) with (r h * product (sizes_at h M)). rewrite Z.mul_comm.
    apply Z.div_mul. lia. }
  assert (Nx : row x / r x = product (sizes_at x M)).
  { rewrite Ex. change (product (sizes_at x (r :: M))) with (r x * product (sizes_at x M)). rewrite Z.mul_comm.
    apply Z.div_mul. lia. }
  apply ensures_ask; cbv beta; intros same Sh Sx. rewrite Nh in Sh. rewrite Nx in Sx. destruct same.
  - apply Z.leb_le in Sh. by_bind. pose proof (Z.div_mod (lo h) (product (sizes_at h M)) ltac:(lia)).
    pose proof (Z.mod_pos_bound (lo h) (product (sizes_at h M)) ltac:(lia)).
    eapply ensures_weaken; [apply IH; auto; cbv beta; rewrite ?Nh; try lia|].
    cbv beta. intros ms L. by_ret. lia.
  - apply Z.leb_gt in Sx. pose proof (Z.div_mod (lo x) (product (sizes_at x M)) ltac:(lia)).
    pose proof (Z.mod_pos_bound (lo x) (product (sizes_at x M)) ltac:(lia)).
    assert (L : lo x < hi x) by lia. unfold ensures. intros _. exact L.
Qed.

End Run.
End Symbolic.
