import { timestampFromDate } from '@bufbuild/protobuf/wkt';
import { cardOf } from '../books/result.ts';

/** The card of a row, as far as it may be shown. */
export function presentCard(row: Parameters<typeof cardOf>[0]) {
  const card = cardOf(row);
  return card ? { paymentMethod: { type: 'card', ...card } } : {};
}

/** What the processor said of a row. */
export function presentAnswer(row: {
  processorReference?: string | null | undefined;
  processorCode?: string | null | undefined;
  processorMessage?: string | null | undefined;
}) {
  return {
    ...(row.processorReference != null && { processorReference: row.processorReference }),
    ...(row.processorCode != null && {
      processorError: { code: row.processorCode, message: row.processorMessage ?? '' },
    }),
  };
}

/** A time under its name; nothing when there is none. */
export function time<Name extends string>(name: Name, date: Date | null | undefined) {
  return (date ? { [name]: timestampFromDate(date) } : {}) as Record<Name, ReturnType<typeof timestampFromDate>>;
}
