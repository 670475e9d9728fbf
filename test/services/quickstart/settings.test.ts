import assert from 'node:assert/strict';
import { readSettings } from '../../../services/quickstart/settings.ts';

describe('readSettings() of the launcher', () => {
  it('has a default for each except the database and Redis', () => {
    const settings = readSettings({});
    assert.deepEqual([settings.PORT, settings.CORE_PORT, settings.CONNECT_PORT], [8080, 50_051, 50_052]);
    assert.equal(settings.DATA_DIR, `${process.cwd()}/.data`);
    assert.deepEqual([settings.DATABASE_URL, settings.REDIS_URL], [undefined, undefined]);
  });

  it('treats an empty one as unset, for the processes too', () => {
    const settings = readSettings({ PORT: '', DATA_DIR: '', DATABASE_URL: '', REDIS_URL: '', LOG_LEVEL: '' });
    assert.deepEqual(settings, readSettings({}));
  });

  for (const [name, value] of [
    ['PORT', 'http'],
    ['CORE_PORT', '70000'],
    ['DATABASE_URL', 'mysql://root:secret-word@db/holdfast'],
    ['REDIS_URL', 'secret-word'],
  ] as const) {
    it(`names ${name} when it is wrong, without its value`, () => {
      assert.throws(
        () => readSettings({ [name]: value }),
        ({ message }: Error) => {
          return message.startsWith(`settings: ${name}: `) && !message.includes(value) && !message.includes('\n');
        },
      );
    });
  }
});
