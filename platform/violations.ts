/** Holds messages against the rules of their contract (buf/validate). */
import type { DescMessage, Message } from '@bufbuild/protobuf';
import { createValidator } from '@bufbuild/protovalidate';

const REGULAR_EXPRESSIONS = new Map<string, RegExp>();
const VALIDATOR = createValidator({
  // The patterns are our own and linear; V8's engine is much faster than the portable one.
  regexMatch: (pattern, text) => {
    const compiled = REGULAR_EXPRESSIONS.get(pattern) ?? new RegExp(pattern, 'u');
    REGULAR_EXPRESSIONS.set(pattern, compiled);
    return compiled.test(text);
  },
});

/** A rule that a message breaks. */
export interface Violation {
  /** The path of the field, without places in lists, such as `result.card.last4`. */
  readonly field: string;
  /** What is wrong; never the value. */
  readonly description: string;
}

/** Which rules of its contract a message breaks. */
export function violationsOf(schema: DescMessage, message: Message): Violation[] {
  const result = VALIDATOR.validate(schema, message as never);
  if (result.kind === 'error') throw result.error;
  return (result.violations ?? []).map((violation) => ({
    field: violation.field
      .map((part) => ('name' in part ? part.name : ''))
      .filter(Boolean)
      .join('.'),
    description: violation.message,
  }));
}
