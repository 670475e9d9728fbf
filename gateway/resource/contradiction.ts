/** A processor's contradiction, in the form that operators see. */
import { ContradictionSchema, type Contradiction as Message } from '../../proto/gen/holdfast/v1/operator_pb.js';
import { answer, pageOf } from './answer.ts';
import { AMOUNT } from './answer-fields.ts';

/** Zero is an amount, too. */
const amount = (description: string, read: (message: Message) => bigint | undefined) => ({
  schema: AMOUNT.schema.describe(description).optional(),
  read: (message: Message) => {
    const said = read(message);
    return said === undefined ? undefined : AMOUNT.json(said);
  },
});

export const Contradiction = answer('Contradiction', ContradictionSchema, {
  own: {
    toldAmount: amount('The amount that the processor said, minor units', ({ toldAmount }) => toldAmount),
    keptAmount: amount('The amount here, minor units', ({ keptAmount }) => keptAmount),
  },
});

export const ContradictionPage = pageOf('ContradictionPage', 'Newest first', Contradiction, 'contradictions');
