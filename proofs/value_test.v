(* Theorem V: what the value test of a merge may conclude.

   What: if every carry with a non-zero coefficient is affine on the box, so is their sum (all_carry_free_affine).
         Carries whose keys are equal after dividing by a common factor differ by an affine map (equal_keys), so that
         their coefficients add. One carry that is not affine stays so under a non-zero factor (single_carry).
   Why:  the first gives "yes" with the slopes at hand, the second groups the rest, the third gives "no" where one group
         is left. *)
Require Import ZArith Lia List.
From Oriel Require Import mixed_radix affine carry_form.
Import ListNotations.
Open Scope Z_scope.

(* ---- yes *)

Fixpoint add (a b : list Z) : list Z :=
  match a, b with
  | x :: a, y :: b => (x + y) :: add a b
  | _, _ => []
  end.

Lemma add_length a : forall b, length a = length b -> length (add a b) = length a.
Proof. induction a as [|x a IH]; intros [|y b] H; simpl in *; try discriminate; auto. Qed.

Lemma dot_add a : forall b x, length a = length b -> dot (add a b) x = dot a x + dot b x.
Proof. induction a; intros [|y b] [|i x] H; simpl in *; try lia. rewrite IHa by lia. ring. Qed.

Lemma dot_scale c b : forall x, dot (map (Z.mul c) b) x = c * dot b x.
Proof. induction b; intros [|i x]; simpl; try lia. rewrite IHb. ring. Qed.

Theorem all_carry_free_affine L e O T :
  Forall (fun x => snd x = 0 \/ affine e (fun y => (O + dot T y) / fst x)) L ->
  affine e (fun y => sum L (O + dot T y)).
Proof.
  induction 1 as [|[W c] L [Hc|(a & b & Hb & Ha)] _ (a' & b' & Hb' & Ha')]; simpl in *.
  - exists 0, (origin e). split; [apply origin_length|]. intros. rewrite origin_dot. lia.
  - exists a', b'. split; auto. intros x B. rewrite <- Ha' by auto. rewrite Hc. lia.
  - assert (LL : length (map (Z.mul c) b) = length b') by (rewrite map_length; lia).
    exists (c * a + a'), (add (map (Z.mul c) b) b'). split; [rewrite add_length; lia|].
    intros x B. rewrite dot_add, dot_scale, Ha, Ha' by auto. ring.
Qed.

(* ---- grouping: a carry is an affine map plus the carry of its key (w, T mod w, o mod w) *)

Lemma dot_mod w T : forall x, dot T x = w * dot (map (fun t => t / w) T) x + dot (map (fun t => t mod w) T) x.
Proof.
  induction T as [|t T IH]; intros [|i x]; cbn [dot map]; try lia. rewrite IH.
  destruct (Z.eq_dec w 0) as [->|H]; [rewrite Zmod_0_r; ring|].
  pose proof (Z.div_mod t w H) as E. rewrite E at 1. ring.
Qed.

Theorem carry_key o T g w x : 0 < g -> 0 < w ->
  (o + dot (map (Z.mul g) T) x) / (w * g) =
  o / g / w + dot (map (fun t => t / w) T) x + ((o / g) mod w + dot (map (fun t => t mod w) T) x) / w.
Proof.
  intros Hg Hw. rewrite (Z.mul_comm w g), <- Z.div_div, dot_scale by lia.
  replace (o + g * dot T x) with (o + dot T x * g) by ring. rewrite Z.div_add by lia. rewrite (dot_mod w T x).
  pose proof (Z.div_mod (o / g) w ltac:(lia)) as E. rewrite E at 1.
  set (k := o / g / w). set (r := (o / g) mod w). set (u := dot _ x). set (v := dot _ x).
  replace (w * k + r + (w * u + v)) with (r + v + (k + u) * w) by ring. rewrite Z.div_add by lia. ring.
Qed.

Corollary equal_keys o o' T T' g g' w x : 0 < g -> 0 < g' -> 0 < w ->
  (o / g) mod w = (o' / g') mod w -> map (fun t => t mod w) T = map (fun t => t mod w) T' ->
  (o + dot (map (Z.mul g) T) x) / (w * g) - (o' + dot (map (Z.mul g') T') x) / (w * g') =
  (o / g / w - o' / g' / w) + (dot (map (fun t => t / w) T) x - dot (map (fun t => t / w) T') x).
Proof. intros Hg Hg' Hw Eo ET. rewrite !carry_key by auto. rewrite Eo, ET. ring. Qed.

(* ---- no *)

Theorem single_carry e c : positive e -> c <> 0 -> forall g, affine e (fun x => c * g x) -> affine e g.
Proof.
  intros He Hc. induction He as [|s e Hs He IH]; intros g (a & b & Hlen & H).
  { exists (g []), []. split; auto. intros [|i x] B; simpl in *; [lia | contradiction]. }
  destruct b as [|b1 b]; simpl in Hlen; [lia|].
  destruct (IH (fun x => g (0 :: x))) as (a' & b' & Hl' & H').
  { exists a, b. split; [lia|]. intros x B. rewrite H by (simpl; split; auto; lia). simpl. lia. }
  destruct (Z.eq_dec s 1) as [->|Hs1].
  - exists a', (0 :: b'). split; [simpl; lia|]. intros [|i x] B; simpl in *; [contradiction|]. destruct B as [Bi B].
    replace i with 0 by lia. rewrite H' by auto. lia.
  - set (k := g (1 :: origin e) - g (0 :: origin e)). exists a', (k :: b'). split; [simpl; lia|].
    intros [|i x] B; simpl in *; [contradiction|]. destruct B as [Bi B]. pose proof (box_origin e He) as Z0.
    assert (E1 := H (1 :: origin e) ltac:(simpl; split; auto; lia)).
    assert (E0 := H (0 :: origin e) ltac:(simpl; split; auto; lia)).
    assert (Ei := H (i :: x) ltac:(simpl; split; auto; lia)).
    assert (E0x := H (0 :: x) ltac:(simpl; split; auto; lia)).
    simpl in E1, E0, Ei, E0x. rewrite dot_origin in E1, E0.
    assert (Q : c * (g (i :: x) - g (0 :: x) - k * i) = 0) by (unfold k; nia).
    assert (Q' : g (i :: x) - g (0 :: x) - k * i = 0) by nia. assert (Q0 := H' x B). simpl in Q0. lia.
Qed.
