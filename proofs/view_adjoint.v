(* The adjoint of a view, and how it follows the view's parts.

   What: a view is a partial map v of indices to elements, over a list of indices. Its adjoint gives each element p the
         sum of the cotangent over the indices that show p. It is the transpose of reading through the view
         (adjoint_is_transpose). A view of a view has the adjoints one after the other, in reverse (adjoint_after,
         stack_adjoint). Indices may be renamed, and left out where they add nothing (adjoint_reindexed). Axes that move
         along different axes of the source have their adjoints one inside the other (adjoint_by_axes).
   Why:  engine/grad/adjoint.cpp computes adjoints from such steps. What follows here is true of any partial map, so the
         next files speak of steps and counts alone.
   Numbers are any with a sum that is commutative and associative and has a zero. *)
Require Import ZArith Lia List Permutation.
From Oriel Require Import mixed_radix.
Import ListNotations.
Open Scope Z_scope.

Record numbers := Numbers {
  number :> Type;
  zero : number;
  add : number -> number -> number;
  add_comm : forall a b, add a b = add b a;
  add_assoc : forall a b c, add a (add b c) = add (add a b) c;
  add_zero : forall a, add a zero = a }.
Arguments zero {_}.
Arguments add {_} _ _.

Class Decidable (A : Type) := same : forall a b : A, {a = b} + {a <> b}.
Global Instance decidable_integer : Decidable Z := Z.eq_dec.
Global Instance decidable_list {A} `{Decidable A} : Decidable (list A) := list_eq_dec same.
Global Instance decidable_pair {A B} `{Decidable A} `{Decidable B} : Decidable (A * B).
Proof. intros [a b] [a' b']. destruct (same a a'), (same b b'); [left | right..]; congruence. Defined.

Definition after {I J P} (v : J -> option P) (u : I -> option J) (i : I) : option P :=
  match u i with
  | Some j => v j
  | None => None
  end.

Section Numbers.
Context {R : numbers}.

(* ---- sums *)

Fixpoint total {I} (l : list I) (f : I -> R) : R :=
  match l with
  | [] => zero
  | i :: l => add (f i) (total l f)
  end.

Lemma zero_add (a : R) : add zero a = a.
Proof. rewrite add_comm. apply add_zero. Qed.

Lemma total_ext {I} (l : list I) (f f' : I -> R) : (forall i, In i l -> f i = f' i) -> total l f = total l f'.
Proof. induction l as [|i l IH]; simpl; intro H; auto. rewrite (H i), IH; auto. Qed.

Lemma total_zero {I} (l : list I) (f : I -> R) : (forall i, In i l -> f i = zero) -> total l f = zero.
Proof. induction l as [|i l IH]; simpl; intro H; auto. rewrite (H i), IH by auto. apply add_zero. Qed.

Lemma total_app {I} (l m : list I) (f : I -> R) : total (l ++ m) f = add (total l f) (total m f).
Proof. induction l as [|i l IH]; simpl; [symmetry; apply zero_add | rewrite IH; apply add_assoc]. Qed.

Lemma total_map {I J} (b : I -> J) (l : list I) (f : J -> R) : total (map b l) f = total l (fun i => f (b i)).
Proof. induction l as [|i l IH]; simpl; congruence. Qed.

Lemma total_flat_map {I J} (h : I -> list J) (l : list I) (f : J -> R) :
  total (flat_map h l) f = total l (fun i => total (h i) f).
Proof. induction l as [|i l IH]; simpl; auto. rewrite total_app, IH. reflexivity. Qed.

Lemma total_pairs {I J} (l : list I) (m : list J) (f : I * J -> R) :
  total (list_prod l m) f = total l (fun i => total m (fun j => f (i, j))).
Proof. induction l as [|i l IH]; simpl; auto. rewrite total_app, total_map, IH. reflexivity. Qed.

Lemma total_add {I} (l : list I) (f f' : I -> R) :
  total l (fun i => add (f i) (f' i)) = add (total l f) (total l f').
Proof.
  induction l as [|i l IH]; simpl; [symmetry; apply add_zero|]. rewrite IH, <- !add_assoc. f_equal.
  rewrite !add_assoc. f_equal. apply add_comm.
Qed.

Lemma total_swap {I J} (l : list I) (m : list J) (f : I -> J -> R) :
  total l (fun i => total m (f i)) = total m (fun j => total l (fun i => f i j)).
Proof.
  induction l as [|i l IH]; simpl; [symmetry; apply total_zero; auto|]. rewrite IH. symmetry. apply total_add.
Qed.

Lemma total_single {I} (l : list I) (f : I -> R) i : NoDup l -> In i l ->
  (forall j, In j l -> j <> i -> f j = zero) -> total l f = f i.
Proof.
  induction 1 as [|k l N _ IH]; simpl; [contradiction|]. intros [->|Hi] H.
  - rewrite total_zero; [apply add_zero|]. intros j Hj. apply H; auto. intros ->. contradiction.
  - rewrite IH, (H k) by (auto; intros ->; contradiction). apply zero_add.
Qed.

(* A sum over l is one over l' if b takes l' to l one to one, and f is zero at what b leaves out. *)
Lemma total_reindexed {I I'} `{Decidable I} (b : I' -> I) (l : list I) (l' : list I') (f : I -> R) :
  NoDup l -> NoDup l' -> (forall i, In i l' -> In (b i) l) ->
  (forall i j, In i l' -> In j l' -> b i = b j -> i = j) ->
  (forall i, In i l -> ~ In i (map b l') -> f i = zero) ->
  total l f = total l' (fun i => f (b i)).
Proof.
  intros N N' Into Inj Out.
  rewrite (total_ext l f (fun i => total l' (fun k => if same (b k) i then f i else zero))).
  - rewrite total_swap. apply total_ext. intros k Hk. rewrite (total_single l _ (b k)); auto.
    + destruct (same (b k) (b k)); congruence.
    + intros j _ D. destruct (same (b k) j); congruence.
  - intros i Hi. destruct (in_dec same i (map b l')) as [In'|Not].
    + apply in_map_iff in In'. destruct In' as (k & <- & Hk). rewrite (total_single l' _ k); auto.
      * destruct (same (b k) (b k)); congruence.
      * intros j Hj D. destruct (same (b j) (b k)); [destruct D; apply Inj|]; auto.
    + rewrite Out by auto. symmetry. apply total_zero. intros k Hk. destruct (same (b k) i); auto.
Qed.

(* ---- the adjoint *)

(* x, if o is the element p *)
Definition where_shown {P} `{Decidable P} (o : option P) (p : P) (x : R) : R :=
  match o with
  | Some q => if same q p then x else zero
  | None => zero
  end.

Definition adjoint {I P} `{Decidable P} (l : list I) (v : I -> option P) (g : I -> R) (p : P) : R :=
  total l (fun i => where_shown (v i) p (g i)).

Lemma shown_here {P} `{Decidable P} (p : P) x : where_shown (Some p) p x = x.
Proof. simpl. destruct (same p p); congruence. Qed.

Lemma shown_elsewhere {P} `{Decidable P} o (p : P) x : o <> Some p -> where_shown o p x = zero.
Proof. destruct o as [q|]; simpl; auto. destruct (same q p); congruence. Qed.

Lemma shown_zero {P} `{Decidable P} o (p : P) : where_shown o p zero = zero.
Proof. destruct o as [q|]; simpl; auto. destruct (same q p); auto. Qed.

Lemma shown_total {P I} `{Decidable P} o (p : P) (l : list I) f :
  where_shown o p (total l f) = total l (fun i => where_shown o p (f i)).
Proof.
  destruct o as [q|]; simpl; [destruct (same q p); auto|]; symmetry; apply total_zero; auto.
Qed.

Lemma adjoint_ext {I P} `{Decidable P} (l : list I) (v v' : I -> option P) g g' p :
  (forall i, In i l -> v i = v' i /\ g i = g' i) -> adjoint l v g p = adjoint l v' g' p.
Proof. intro E. apply total_ext. intros i Hi. destruct (E i Hi) as [-> ->]. reflexivity. Qed.

(* Where each element is shown once at most, the adjoint reads the cotangent there. *)
Theorem adjoint_of_inverse {I P} `{Decidable P} (l : list I) (v : I -> option P) (inverse : P -> option I) g p :
  NoDup l -> (forall i, inverse p = Some i <-> In i l /\ v i = Some p) ->
  adjoint l v g p = match inverse p with Some i => g i | None => zero end.
Proof.
  intros N Inv. unfold adjoint. destruct (inverse p) as [i|].
  - destruct (proj1 (Inv i) eq_refl) as [Hi E]. rewrite (total_single l _ i); auto.
    + rewrite E. apply shown_here.
    + intros j Hj D. apply shown_elsewhere. intro E'. destruct D.
      assert (Some i = Some j) by (apply Inv; auto). congruence.
  - apply total_zero. intros i Hi. apply shown_elsewhere. intro E. discriminate (proj2 (Inv i) (conj Hi E)).
Qed.

(* ---- a view of a view *)

Theorem adjoint_after {I J P} `{Decidable J} `{Decidable P} (l : list I) (m : list J)
  (v : J -> option P) (u : I -> option J) g p : NoDup m -> (forall i j, In i l -> u i = Some j -> In j m) ->
  adjoint l (after v u) g p = adjoint m v (adjoint l u g) p.
Proof.
  intros N Into. unfold adjoint.
  rewrite (total_ext m _ (fun j => total l (fun i => where_shown (v j) p (where_shown (u i) j (g i)))))
    by (intros; apply shown_total).
  rewrite total_swap. apply total_ext. intros i Hi. unfold after. destruct (u i) as [j|] eqn:E.
  - rewrite (total_single m _ j); eauto.
    + rewrite shown_here. reflexivity.
    + intros k _ D. rewrite (shown_elsewhere (Some j) k) by congruence. apply shown_zero.
  - symmetry. apply total_zero. intros. apply shown_zero.
Qed.

(* ---- other indices *)

Theorem adjoint_reindexed {I I' P} `{Decidable I} `{Decidable P} (b : I' -> I) (l : list I) (l' : list I')
  (v : I -> option P) g p : NoDup l -> NoDup l' -> (forall i, In i l' -> In (b i) l) ->
  (forall i j, In i l' -> In j l' -> b i = b j -> i = j) ->
  (forall i, In i l -> ~ In i (map b l') -> v i = None \/ g i = zero) ->
  adjoint l v g p = adjoint l' (fun i => v (b i)) (fun i => g (b i)) p.
Proof.
  intros N N' Into Inj Out. apply (total_reindexed b l l' (fun i => where_shown (v i) p (g i))); auto.
  intros i Hi Not. destruct (Out i Hi Not) as [-> | ->]; [reflexivity | apply shown_zero].
Qed.

(* ---- several axes of the source *)

Theorem adjoint_by_axes {I J P Q} `{Decidable P} `{Decidable Q} (l : list I) (m : list J)
  (u : I -> option P) (v : J -> option Q) (g : I * J -> R) p q :
  adjoint (list_prod l m)
    (fun ij => match u (fst ij), v (snd ij) with Some a, Some b => Some (a, b) | _, _ => None end) g (p, q) =
  adjoint l u (fun i => adjoint m v (fun j => g (i, j)) q) p.
Proof.
  unfold adjoint. rewrite total_pairs. apply total_ext. intros i _. rewrite shown_total. apply total_ext. intros j _.
  simpl fst. simpl snd. destruct (u i) as [a|]; simpl; auto. destruct (v j) as [b|]; simpl.
  - destruct (same (a, b) (p, q)) as [E|D], (same a p), (same b q); congruence.
  - destruct (same a p); reflexivity.
Qed.

(* Elements may have other names: a number of the whole source in place of one along each axis. *)
Theorem adjoint_renamed {I P Q} `{Decidable P} `{Decidable Q} (c : P -> Q) (l : list I) (v : I -> option P) g p :
  (forall i q, In i l -> v i = Some q -> c q = c p -> q = p) ->
  adjoint l (fun i => option_map c (v i)) g (c p) = adjoint l v g p.
Proof.
  intro Inj. apply total_ext. intros i Hi. specialize (Inj i). destruct (v i) as [q|]; simpl; auto.
  destruct (same (c q) (c p)) as [E|D], (same q p) as [E'|D']; auto; exfalso; [apply D'; auto | congruence].
Qed.

(* Along a source in row-major order: the inner axis, of s elements, and the number along the others. *)
Corollary adjoint_by_digits {I J} (l : list I) (m : list J) (u : I -> Z) (v : J -> Z) s (g : I * J -> R) p :
  0 < s -> (forall i, In i l -> 0 <= u i < s) ->
  adjoint (list_prod l m) (fun ij => Some (u (fst ij) + s * v (snd ij))) g p =
  adjoint l (fun i => Some (u i)) (fun i => adjoint m (fun j => Some (v j)) (fun j => g (i, j)) (p / s)) (p mod s).
Proof.
  intros Hs Hu. rewrite <- adjoint_by_axes. set (c := fun ab : Z * Z => fst ab + s * snd ab).
  pose proof (Z.mod_pos_bound p s Hs). replace p with (c (p mod s, p / s)) at 1 by (unfold c; simpl; rewrite
    (Z.div_mod p s) at 3 by lia; ring).
  rewrite <- (adjoint_renamed c); [apply adjoint_ext; auto|].
  intros [i j] [a b] Hi [= <- <-] E. apply in_prod_iff in Hi. unfold c in E. simpl in *.
  specialize (Hu i (proj1 Hi)). f_equal.
  - apply (Z.mod_unique p s (v j) (u i)); [lia|]. rewrite (Z.div_mod p s) by lia. lia.
  - apply (Z.div_unique p s (v j) (u i)); [lia|]. rewrite (Z.div_mod p s) by lia. lia.
Qed.

(* ---- the transpose of reading *)

Section Transpose.
Variable times : R -> R -> R.
Hypothesis times_add : forall a b x, times (add a b) x = add (times a x) (times b x).
Hypothesis zero_times : forall x, times zero x = zero.
Hypothesis times_zero : forall a, times a zero = zero.

Lemma total_times {I} (l : list I) f x : times (total l f) x = total l (fun i => times (f i) x).
Proof. induction l as [|i l IH]; simpl; [apply zero_times | rewrite times_add, IH; reflexivity]. Qed.

Theorem adjoint_is_transpose {I P} `{Decidable P} (l : list I) (source : list P) (v : I -> option P) g x :
  NoDup source -> (forall i p, In i l -> v i = Some p -> In p source) ->
  total l (fun i => times (g i) (match v i with Some p => x p | None => zero end)) =
  total source (fun p => times (adjoint l v g p) (x p)).
Proof.
  intros N Into. unfold adjoint.
  rewrite (total_ext source _ (fun p => total l (fun i => times (where_shown (v i) p (g i)) (x p))))
    by (intros; apply total_times).
  rewrite total_swap. apply total_ext. intros i Hi. destruct (v i) as [q|] eqn:E.
  - rewrite (total_single source _ q); eauto; [rewrite shown_here; reflexivity|].
    intros p _ D. rewrite shown_elsewhere by congruence. apply zero_times.
  - rewrite times_zero. symmetry. apply total_zero. intros. apply zero_times.
Qed.

(* A product is read where o says. One factor with zeros is enough: the other may be anything where nothing is read. *)
Lemma one_factor_with_zeros {I} (o : option I) (f h : I -> R) (y : R) : (forall i, o = Some i -> y = h i) ->
  match o with Some i => times (f i) (h i) | None => zero end =
  times (match o with Some i => f i | None => zero end) y.
Proof. intro E. destruct o as [i|]; [rewrite (E i); auto | symmetry; apply zero_times]. Qed.
End Transpose.
End Numbers.

(* ---- indices *)

Definition range (n : Z) : list Z := map Z.of_nat (seq 0 (Z.to_nat n)).

Lemma in_range n j : In j (range n) <-> 0 <= j < n.
Proof.
  unfold range. rewrite in_map_iff. split; [intros (k & <- & H); apply in_seq in H; lia|].
  intro H. exists (Z.to_nat j). split; [lia|]. apply in_seq. lia.
Qed.

Lemma range_once n : NoDup (range n).
Proof. apply FinFun.Injective_map_NoDup; [intros a b; lia | apply seq_NoDup]. Qed.

(* ---- a stack of views of flat elements, the outermost first, each with its number of indices *)

Fixpoint stack (l : list (Z * (Z -> option Z))) : Z -> option Z :=
  match l with
  | [] => Some
  | (_, v) :: l => after (stack l) v
  end.

Definition domain (l : list (Z * (Z -> option Z))) (n : Z) := match l with [] => n | (m, _) :: _ => m end.

(* each shows elements of the next, and the last elements of a source of n *)
Fixpoint stacked (l : list (Z * (Z -> option Z))) (n : Z) : Prop :=
  match l with
  | [] => True
  | (m, v) :: l => (forall i p, 0 <= i < m -> v i = Some p -> 0 <= p < domain l n) /\ stacked l n
  end.

Fixpoint adjoints {R : numbers} (l : list (Z * (Z -> option Z))) (g : Z -> R) : Z -> R :=
  match l with
  | [] => g
  | (m, v) :: l => adjoints l (adjoint (range m) v g)
  end.

Theorem stack_adjoint {R : numbers} l n p : stacked l n -> 0 <= p < n -> forall g : Z -> R,
  adjoint (range (domain l n)) (stack l) g p = adjoints l g p.
Proof.
  intros S Hp. induction l as [|[m v] l IH]; intro g; simpl.
  - rewrite (adjoint_of_inverse _ _ Some); auto using range_once. intro i. rewrite in_range.
    split; [intros [= ->]; auto | intros [_ [= ->]]; auto].
  - destruct S as [Into S]. rewrite (adjoint_after _ (range (domain l n))); [apply IH, S | apply range_once |].
    intros i j Hi E. rewrite in_range in *. eauto.
Qed.
