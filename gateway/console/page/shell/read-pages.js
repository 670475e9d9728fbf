/** The first pages of a list as one, at most `count`. */
export async function readPages(ask, count, onRead = () => {}) {
  const items = [];
  let token = '';
  for (let read = 0; read < count; read += 1) {
    const page = await ask(token);
    items.push(...page.items);
    onRead(items.length);
    token = page.nextPageToken;
    if (!token) break;
  }
  return { items, nextPageToken: token };
}
