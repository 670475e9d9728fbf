// Shows only the articles that contain every word that is typed, in the contents and below.
const field = document.getElementById('find');
const found = document.getElementById('found');
const articles = [...document.querySelectorAll('article')].map((article) => ({
  article,
  link: document.querySelector(`nav a[href="#${article.id}"]`)?.parentElement,
  text: article.textContent.toLowerCase(),
}));

function search() {
  const words = field.value.toLowerCase().split(/\s+/);
  let count = 0;
  for (const { article, link, text } of articles) {
    const isFound = words.every((word) => text.includes(word));
    article.hidden = !isFound;
    if (link) link.hidden = !isFound;
    count += isFound ? 1 : 0;
  }
  for (const part of document.querySelectorAll('section[data-tag]')) {
    part.hidden = !part.querySelector('article:not([hidden]), li:not([hidden])');
  }
  found.textContent = field.value.trim() === '' ? '' : `${count} of ${articles.length} ${found.dataset.of}`;
}

field.addEventListener('input', search);
field.closest('[role=search]').hidden = false;
search();

// A button beside each sample. Without the clipboard, as on a page in clear, it selects the text.
for (const sample of document.querySelectorAll('pre')) {
  const button = document.createElement('button');
  button.type = 'button';
  button.textContent = 'Copy';
  button.addEventListener('click', () => copy(sample, button));
  const frame = document.createElement('div');
  frame.className = 'sample';
  sample.replaceWith(frame);
  frame.append(sample, button);
}

async function copy(sample, button) {
  getSelection().selectAllChildren(sample);
  await navigator.clipboard?.writeText(sample.textContent);
  button.textContent = navigator.clipboard ? 'Copied' : 'Selected';
  setTimeout(() => {
    button.textContent = 'Copy';
  }, 2000);
}
