// A tap on a picture opens it alone, where a phone can zoom in.
for (const picture of document.querySelectorAll("article img")) {
  if (picture.closest("a")) continue;
  const link = document.createElement("a");
  link.href = picture.src;
  picture.replaceWith(link);
  link.append(picture);
}
