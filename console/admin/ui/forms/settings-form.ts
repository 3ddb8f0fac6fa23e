import { type AnyOperation, useMutation } from '../../api.ts';
import type { Failure } from '../../failure.ts';
import type { Operation } from '../../generated/operations.ts';
import { t } from '../../language/language.ts';
import { type GraphqlRequest, request } from '../code/show-graphql.tsx';
import { toast } from '../feedback/toast.tsx';
import { type Draft, useDraft } from './draft.ts';
import { type Field, fieldProps } from './field.ts';

export interface SettingsForm<Values extends object> extends Draft<Values> {
  saved: Values;
  busy: boolean;
  failure: Failure | undefined;
  /** The API request that saves the edits. */
  request: GraphqlRequest;
  save(): Promise<void>;
  discard(): void;
  /** Props of the field's input. */
  field<Name extends keyof Values & string>(name: Name): SettingsField & { value: Values[Name] };
  /** Props of the field's switch or checkbox. */
  toggle(name: keyof Values & string): SettingsField & { checked: boolean };
}

interface SettingsField extends Field {
  disabled: boolean;
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
  const props = (name: keyof Values & string, valueOf: (input: HTMLInputElement) => unknown) => ({
    disabled: !mayChange,
    ...fieldProps(failure, name, valueOf, (value) => draft.set(name, value as never)),
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
