import { describe, expect, it } from 'vitest';
import { adminCount, openTasks, type Task } from './tasks.ts';

const member = (id: string, role: 'OWNER' | 'PROJECT_ADMIN' | 'PROJECT_VIEWER', active: boolean | null = true) => ({
  id: `membership of ${id}`,
  role,
  admin: { id, active },
});

describe('the next step of the checklist', () => {
  const task = (name: string, more: Partial<Task> = {}): Task => ({ name, isDone: false, done: '', open: '', ...more });

  it('is the first required one that is open, with or without a link', () => {
    const action = { label: '', to: '' };
    const tasks = [
      task('done', { isDone: true, action }),
      task('optional', { isOptional: true, action }),
      task('required'),
      task('later', { action }),
    ];
    expect(openTasks(tasks).map(({ name }) => name)).toEqual(['required', 'later']);
  });
});

describe('the second admin of the checklist', () => {
  it('is not a viewer', () => {
    expect(adminCount([member('v', 'PROJECT_VIEWER')], [member('o', 'OWNER')])).toBe(1);
    expect(adminCount([member('a', 'PROJECT_ADMIN')], [member('o', 'OWNER')])).toBe(2);
  });

  it('is not a deactivated admin, nor the same person with two roles', () => {
    expect(adminCount([member('a', 'PROJECT_ADMIN', false)], [member('o', 'OWNER')])).toBe(1);
    expect(adminCount([member('o', 'PROJECT_ADMIN')], [member('o', 'OWNER')])).toBe(1);
  });

  it('can be an owner whom a project admin cannot see', () => {
    expect(adminCount([member('a', 'PROJECT_ADMIN', null)], undefined)).toBe(2);
    expect(adminCount([member('v', 'PROJECT_VIEWER', null)], undefined)).toBe(1);
  });
});
