import assert from 'node:assert/strict';
import { STATUS_INFOS, wordsOf } from '../../../gateway/resource/status-words.ts';
import { KIND_NAMES, OPERATION_KINDS, SENT_KINDS } from '../../../services/core/domain/kinds.ts';
import { statusInfoOf } from '../../../services/core/domain/outcome.ts';

describe('status words', () => {
  const refusals = (['DECLINED', 'NOT_PERFORMED'] as const).map((answer) => ({ answer, code: 'no', message: 'no' }));

  it('are those of every success and of every failure in core', () => {
    for (const kind of KIND_NAMES) {
      const { notification, successWord } = OPERATION_KINDS[kind];
      const isSent = SENT_KINDS.some((sent) => sent === kind);
      const failures = isSent ? refusals.map((outcome) => statusInfoOf(kind, outcome)) : [];
      for (const word of [successWord, ...failures]) {
        assert(STATUS_INFOS.includes(word), word);
        for (const sort of ['payment', 'oct'] as const)
          if (notification === sort || notification === 'EITHER') assert(word in wordsOf(sort), `${sort} ${word}`);
      }
    }
  });
});
