import { Field, Int, ObjectType } from 'type-graphql';
import { Access } from '../api/access.ts';

@Access('inherited')
@ObjectType({ description: 'A row of an import that was not added.' })
export class RefusedRow {
  @Field(() => Int, { description: 'Place in `rows`, from 0.' })
  row!: number;

  @Field(() => String, { nullable: true, description: 'The field that was refused.' })
  field!: string | null;

  @Field(() => String, { description: 'The error code, as in `extensions.code`.' })
  code!: string;

  @Field(() => String)
  message!: string;
}

@Access('inherited')
@ObjectType({ description: 'The result of an import. Each row succeeds or fails independently.' })
export class ImportedUsers {
  @Field(() => Int, { description: 'In a dry run: how many would be added.' })
  created!: number;

  @Field(() => [Int], { description: 'Rows of users who exist already, by email address or userName: unchanged.' })
  known!: number[];

  @Field(() => [RefusedRow])
  refused!: RefusedRow[];
}
