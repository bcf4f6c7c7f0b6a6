// @ts-nocheck: plain JavaScript with packages that only its own installation has.
import { Migration } from '@medusajs/framework/mikro-orm/migrations';

const times = `"created_at" timestamptz not null default now(), "updated_at" timestamptz not null default now(),
  "deleted_at" timestamptz null`;

export class Migration20261130000000 extends Migration {
  async up() {
    this.addSql(`create table if not exists "card_checkout_payment"
      ("id" text not null primary key, "collection_id" text not null, ${times});`);
    this.addSql(`create index if not exists "IDX_card_checkout_payment_collection_id"
      on "card_checkout_payment" ("collection_id") where deleted_at is null;`);
    this.addSql(`create table if not exists "card_checkout_cursor"
      ("id" text not null primary key, "event_number" text not null, "attempts" integer not null, ${times});`);
  }

  async down() {
    this.addSql('drop table if exists "card_checkout_payment";');
    this.addSql('drop table if exists "card_checkout_cursor";');
  }
}
