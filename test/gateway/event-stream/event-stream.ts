/** Reads Server-Sent Events as an EventSource does. */

/** One event; without data it only sets lastEventId. */
export interface Event {
  readonly id?: string | undefined;
  readonly event?: string | undefined;
  readonly data?: string | undefined;
  readonly retry?: string | undefined;
  readonly comment?: string | undefined;
}

/** Yields the events of an answer as they arrive. */
export async function* eventsOf(response: Response): AsyncGenerator<Event> {
  let text = '';
  for await (const chunk of response.body?.pipeThrough(new TextDecoderStream()) ?? []) {
    const blocks = (text + chunk).split('\n\n');
    text = blocks.pop() ?? '';
    for (const block of blocks) yield eventOf(block);
  }
}

/** Returns the events of a whole stream. */
export function parseEvents(text: string): Event[] {
  return text.split('\n\n').slice(0, -1).map(eventOf);
}

function eventOf(block: string): Event {
  const field = (name: string) =>
    block
      .split('\n')
      .find((line) => line.startsWith(`${name}: `))
      ?.slice(name.length + 2);
  return { id: field('id'), event: field('event'), data: field('data'), retry: field('retry'), comment: field('') };
}
