import { type AnyOperation, useMutation } from '../../api.ts';
import { type Failure, faultAt } from '../../failure.ts';
import type { Operation } from '../../generated/operations.ts';
import { t } from '../../language/language.ts';
import { type GraphqlRequest, request } from '../code/show-graphql.tsx';
import { toast } from '../feedback/toast.tsx';
import { type Draft, useDraft } from './draft.ts';

export interface SettingsForm<Values extends object> extends Draft<Values> {
  saved: Values;
  busy: boolean;
  failure: Failure | undefined;
  /** The API request that saves the edits. */
  request: GraphqlRequest;
  save(): Promise<void>;
  discard(): void;
  /** Props of the field's input. */
  field<Name extends keyof Values & string>(name: Name): Field & { value: Values[Name] };
  /** Props of the field's switch or checkbox. */
  toggle(name: keyof Values & string): Field & { checked: boolean };
}

interface Field {
  disabled: boolean;
  error: string | undefined;
  /** @param input the value, or the event of an input element */
  onChange(input: unknown): void;
}

interface SettingsFormOptions<Values, Variables> {
  /** Memoized. */
  saved: Values;
  mayChange: boolean;
  operation: Operation<unknown, Variables>;
  /** Variables that save these edits; with the version, so that concurrent changes are refused. */
  variables(edits: Partial<Values>): Variables;
  invalidates: readonly AnyOperation[];
  /** Toast after saving. */
  done?: string;
}

/** State of a form over saved settings; see SaveBar. */
export function useSettingsForm<Values extends object, Variables extends object>(
  options: SettingsFormOptions<Values, Variables>,
): SettingsForm<Values> {
  const { saved, mayChange, operation, variables, invalidates, done = t('Saved') } = options;
  const draft = useDraft(saved);
  const [update, busy, failure, clear] = useMutation(operation, invalidates);
  const props = (name: keyof Values & string, valueOf: (input: HTMLInputElement) => unknown): Field => ({
    disabled: !mayChange,
    error: faultAt(failure, name),
    onChange: (input) => {
      const isEvent = typeof input === 'object' && input !== null && 'currentTarget' in input;
      draft.set(name, (isEvent ? valueOf(input.currentTarget as HTMLInputElement) : input) as never);
    },
  });
  return {
    ...draft,
    saved,
    busy,
    failure,
    request: request(operation, variables(draft.edits)),
    async save() {
      const outcome = await update(variables(draft.edits));
      if (!outcome.data) return;
      toast(done);
      draft.settle(draft.edits);
    },
    discard() {
      draft.reset();
      clear();
    },
    field: (name) => ({ ...props(name, ({ value }) => value), value: draft.values[name] }),
    toggle: (name) => ({ ...props(name, ({ checked }) => checked), checked: draft.values[name] as boolean }),
  };
}
