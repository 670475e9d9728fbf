// Shows only the routes that contain every word that is typed, in the contents and below.
const field = document.getElementById('find-route');
const found = document.getElementById('found');
const routes = [...document.querySelectorAll('article')].map((article) => ({
  article,
  link: document.querySelector(`nav a[href="#${article.id}"]`)?.parentElement,
  text: article.textContent.toLowerCase(),
}));

function search() {
  const words = field.value.toLowerCase().split(/\s+/);
  let count = 0;
  for (const { article, link, text } of routes) {
    const isFound = words.every((word) => text.includes(word));
    article.hidden = !isFound;
    if (link) link.hidden = !isFound;
    count += isFound ? 1 : 0;
  }
  for (const part of document.querySelectorAll('section[data-tag]')) {
    part.hidden = !part.querySelector('article:not([hidden])');
  }
  found.textContent = field.value.trim() === '' ? '' : `${count} of ${routes.length} routes`;
}

field.addEventListener('input', search);
field.form.hidden = false;
search();
