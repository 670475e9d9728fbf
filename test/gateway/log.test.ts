import assert from 'node:assert/strict';
import { createLog, errorFields, type LogFields } from '../../gateway/log.ts';

describe('gateway log', () => {
  const written = (fields: object) => {
    const lines: string[] = [];
    const log = createLog('info', { write: (line) => void lines.push(line) });
    log.warn('something', fields as LogFields);
    assert.equal(lines.length, 1);
    return lines[0] ?? '';
  };

  it('writes one JSON line', () => {
    const { level, time, ...rest } = JSON.parse(written({ status: 200, route: '/oct' }));
    assert.equal(level, 40);
    assert.match(time, /^\d{4}-.*Z$/);
    assert.deepEqual(rest, { process: 'gateway', status: 200, route: '/oct', msg: 'something' });
  });

  it('drops what is not on its list', () => {
    const line = written({ preauthorizationId: 'pre_1', authorization: 'Bearer 1', body: { a: 1 }, url: '/x' });
    assert.doesNotMatch(line, /pre_1|Bearer|"a"|\/x/);
  });

  it('tells the class and the frames of an error, not its message', () => {
    const error = Object.assign(new TypeError('pre_secret\n    on two lines'), { code: 'ERR_X' });
    const line = written(errorFields(error));
    assert.doesNotMatch(line, /pre_secret|two lines/);
    assert.match(line, /"error":"TypeError".*log\.test\.ts|log\.test\.ts.*"error":"TypeError"/);
  });
});
