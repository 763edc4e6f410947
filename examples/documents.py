"""
Documents: the texts that stand for a topic
===========================================

Which few articles should one read to know what a collection is about? Texts become sparse
rows of word weights, the cosine distance compares them, and the prototypes are texts that one
can read.
"""

import textwrap

import matplotlib.pyplot as plt
import numpy as np
from sklearn.feature_extraction.text import TfidfVectorizer

from protocover import PVMClassifierCV
from protocover.plotting import CoverageConfusionDisplay, PrototypeMapDisplay

# %%
# A small collection
# ------------------
# So that nothing needs to be downloaded, the texts are put together here: each topic has
# two subjects, and a text is made of sentences about one of them, with now and then a
# sentence from anywhere.

SENTENCES = {
    ("astronomy", "planets"): [
        "The probe entered orbit around the planet after seven years.",
        "Rings of ice and dust circle the giant planet.",
        "A small moon keeps the edge of the ring sharp.",
        "Storms on the planet have raged for centuries.",
        "The lander measured wind and dust on the surface of the moon.",
        "The orbit of the moon is slowly growing wider.",
    ],
    ("astronomy", "galaxies"): [
        "The telescope caught the light of a distant galaxy.",
        "Stars at the rim of the galaxy move too fast for the mass we see.",
        "Two galaxies will merge, and their stars will hardly collide.",
        "The spectrum shows that the galaxy is moving away from us.",
        "A supernova outshone all the stars of its galaxy for a week.",
        "Dark matter bends the light of galaxies behind it.",
    ],
    ("cooking", "bread"): [
        "Knead the dough until it is smooth and leave it to rise.",
        "The sourdough starter needs flour and water every day.",
        "Bake the loaf in a hot oven until the crust is dark.",
        "Too much flour makes the dough stiff and the bread dry.",
        "Let the bread cool before cutting the crust.",
        "Yeast works faster in a warm kitchen, and the dough will rise sooner.",
    ],
    ("cooking", "soup"): [
        "Simmer the onions in butter before adding the stock.",
        "A good soup starts with bones and vegetables in cold water.",
        "Season the soup with salt and pepper at the end.",
        "Blend the vegetables and stir in cream.",
        "Carrots, leek and onions give the stock its taste.",
        "Skim the stock and let it simmer for hours.",
    ],
    ("football", "match"): [
        "The striker scored the winning goal in the last minute.",
        "The goalkeeper saved a penalty and kept the match even.",
        "After the break the team pressed high and scored twice.",
        "The referee gave a penalty after a foul in the box.",
        "A header from the corner decided the match.",
        "The defence left the striker alone in front of goal.",
    ],
    ("football", "transfers"): [
        "The club paid a record fee for the young midfielder.",
        "His contract with the club ends next summer.",
        "The agent confirmed talks about a transfer.",
        "The club cannot afford his wages and looks for a buyer.",
        "The transfer window closes on Friday at midnight.",
        "The midfielder signed a contract for four seasons.",
    ],
}


def make_texts(n_each=30, stray=0.15, seed=0):
    """Put texts of five sentences together, and tell topic and subject of each."""
    rng = np.random.default_rng(seed)
    anything = [sentence for subject in SENTENCES.values() for sentence in subject]
    texts, topics, subjects = [], [], []
    for (topic, subject), sentences in SENTENCES.items():
        for _ in range(n_each):
            chosen = rng.choice(sentences, 5, replace=False)
            chosen = np.where(rng.random(5) < stray, rng.choice(anything, 5), chosen)
            texts.append(" ".join(chosen))
            topics.append(topic)
            subjects.append(subject)
    return texts, np.array(topics), np.array(subjects)


texts, topics, subjects = make_texts()
print(textwrap.fill(texts[0], 88))

# %%
# Sparse rows and the cosine distance
# -----------------------------------
# TF-IDF gives each text a row with a weight for every word in it, and zeros for all other
# words. The rows stay sparse all the way; lengths of texts do not matter to the cosine.

words = TfidfVectorizer(stop_words="english")
X = words.fit_transform(texts)
print(
    f"{X.shape[0]} texts, {X.shape[1]} words, {X.nnz / np.prod(X.shape):.1%} of the table filled"
)

# %%
# At most a dozen texts to read
# -----------------------------
# The search chooses the radius that works best with at most twelve prototypes.

model = PVMClassifierCV(
    radii="shared",
    metric="cosine",
    prototype_costs=[1],
    max_prototypes=12,
    random_state=0,
).fit(X, topics)

for row, covered in zip(
    model.prototype_indices_, model.newly_covered_count_, strict=True
):
    print(f"{topics[row]:9} on {subjects[row]:9} stands for {covered:2} texts")

# %%
# The first of them, to read:

print(textwrap.fill(texts[model.prototype_indices_[0]], 88))

# %%
# A map of what to read
# ---------------------
# The prototypes with their heaviest words; near means alike. The model was told the topics,
# not the subjects: that these lie apart on the map comes from the texts alone.

vocabulary = words.get_feature_names_out()
heaviest = np.argsort(-X[model.prototype_indices_].toarray(), axis=1)[:, :2]
names = [", ".join(vocabulary[pair]) for pair in heaviest]
_, ax = plt.subplots(figsize=(8, 6.4), layout="constrained")
display = PrototypeMapDisplay.from_estimator(
    model, names=names, fontsize=9, legend=True, ax=ax
)

# %%
# New texts
# ---------
# The table counts new texts of each topic (rows) that lie in balls of each topic (columns).
# Texts in no ball are unlike anything that was chosen; they still get the topic of the nearest
# prototype.

new_texts, truth, _ = make_texts(seed=1)
X_new = words.transform(new_texts)
print(f"{model.score(X_new, truth):.1%} of {len(truth)} new texts are told right")
display = CoverageConfusionDisplay.from_estimator(model, X_new, truth)
plt.show()
