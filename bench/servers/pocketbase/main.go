// PocketBase with synchronous=FULL, and a collection of plants that any signed-in user may create. Its default is NORMAL,
// which in WAL mode answers a commit before it is synced.
package main

import (
	"log"

	"github.com/pocketbase/dbx"
	"github.com/pocketbase/pocketbase"
	"github.com/pocketbase/pocketbase/core"
	"github.com/pocketbase/pocketbase/tools/types"
)

// The pragmas of core.DefaultDBConnect, except synchronous.
const pragmas = "?_pragma=busy_timeout(10000)&_pragma=journal_mode(WAL)" +
	"&_pragma=journal_size_limit(200000000)&_pragma=synchronous(FULL)" +
	"&_pragma=foreign_keys(ON)&_pragma=temp_store(MEMORY)&_pragma=cache_size(-32000)"

func main() {
	app := pocketbase.NewWithConfig(pocketbase.Config{
		HideStartBanner: true,
		DBConnect: func(path string) (*dbx.DB, error) {
			return dbx.Open("sqlite", path+pragmas)
		},
	})
	app.OnServe().BindFunc(func(e *core.ServeEvent) error {
		if err := createPlants(e.App); err != nil {
			return err
		}
		return e.Next()
	})
	if err := app.Start(); err != nil {
		log.Fatal(err)
	}
}

func createPlants(app core.App) error {
	plants := core.NewBaseCollection("plants")
	plants.CreateRule = types.Pointer("@request.auth.id != ''")
	plants.Fields.Add(
		&core.TextField{Name: "name", Required: true},
		&core.TextField{Name: "tag"},
	)
	if err := app.Save(plants); err != nil {
		return err
	}
	users, err := app.FindCollectionByNameOrId("users")
	if err != nil {
		return err
	}
	user := core.NewRecord(users)
	user.SetEmail("bench@example.com")
	user.SetPassword("a long password")
	return app.Save(user)
}
