"""
Handwritten digits: a reader you can look into
==============================================

At most a hundred real images represent a thousand, and every answer points at one of them. We
let cross-validation choose the largest radius, look at the images chosen, and ask why some new
ones were misread.
"""

import matplotlib.pyplot as plt
from sklearn.datasets import load_digits
from sklearn.model_selection import train_test_split
from sklearn.neighbors import KNeighborsClassifier

from protocover import PVMClassifierCV
from protocover.plotting import PrototypeGalleryDisplay, PrototypeMapDisplay

# %%
# The images have 8 by 8 pixels, so each is a row of 64 numbers. The distance between two
# images is the Euclidean distance of their rows.

X, y = load_digits(return_X_y=True)
X_train, X_test, y_train, y_test = train_test_split(
    X, y, train_size=1000, stratify=y, random_state=0
)

# %%
# How far may an image be from its prototype? Each prototype has its own radius, and ``eps`` is
# the largest one allowed. :class:`~protocover.PVMClassifierCV` chooses it, and the cost of a
# prototype, by cross-validation. We ask for a summary of at most 100 images.

search = PVMClassifierCV(n_eps=15, cv=5, max_prototypes=100, random_state=0)
model = search.fit(X_train, y_train).best_estimator_
everyone = KNeighborsClassifier(1).fit(X_train, y_train)

low, high = model.prototype_radii_.min(), model.prototype_radii_.max()
print(f"radii                      {low:.1f} to {high:.1f}")
print(
    f"prototypes                 {len(model.prototype_labels_)} of {len(y_train)} images"
)
print(f"right on new images        {model.score(X_test, y_test):.1%}")
print(f"1-NN, with all the images  {everyone.score(X_test, y_test):.1%}")

# %%
# The prototypes come in order of importance. Above each stand the digit, how many training
# images it newly covers, and in brackets how many images of other digits lie in its ball.

display = PrototypeGalleryDisplay.from_estimator(
    model, image_shape=(8, 8), max_prototypes=30
)

# %%
# On a map, alike prototypes lie close together. Digits that are written in several ways, such
# as 1 with and without a foot, appear in several places.

display = PrototypeMapDisplay.from_estimator(
    model, image_shape=(8, 8), max_prototypes=60
)

# %%
# Why was this image misread? ``explain`` returns the prototype that decided and the one that
# came second, so you can look at all three. The numbers are distances in multiples of the
# prototype's radius.

wrong = (model.predict(X_test) != y_test).nonzero()[0]
why = model.explain(X_test[wrong])
rescued = (why.runner_up_label == y_test[wrong]).mean()
print(
    f"{len(wrong)} misread; for {rescued:.0%} of them the second prototype had it right"
)

figure, axes = plt.subplots(3, 6, figsize=(7, 4), layout="constrained")
for column, row in enumerate(wrong[:6]):
    first, second = why.prototype[column], why.runner_up_prototype[column]
    pictures = [X_test[row], model.prototypes_[first], model.prototypes_[second]]
    titles = [
        f"a {y_test[row]}",
        f"{why.label[column]} at {why.relative_distance[column]:.2f}",
        f"{why.runner_up_label[column]} at {why.runner_up_relative_distance[column]:.2f}",
    ]
    for ax, picture, title in zip(axes[:, column], pictures, titles, strict=True):
        ax.imshow(picture.reshape(8, 8), cmap="gray_r")
        ax.set_title(title, fontsize="medium")
        ax.set(xticks=[], yticks=[])
for ax, name in zip(axes[:, 0], ["misread", "first", "second"], strict=True):
    ax.set_ylabel(name)
plt.show()
