// Validates the copy of the OpenAPI document in OpenAPI 3.0, and answers of the service by it.
package main

import (
	"fmt"
	"net/http"
	"os"

	"github.com/getkin/kin-openapi/openapi3"
	"github.com/getkin/kin-openapi/openapi3filter"
	"github.com/getkin/kin-openapi/routers/gorillamux"
)

func must[Value any](value Value, err error) Value {
	if err != nil {
		fmt.Println(err)
		os.Exit(1)
	}
	return value
}

func main() {
	loader := openapi3.NewLoader()
	doc := must(loader.LoadFromFile("openapi-3.0.json"))
	must(0, doc.Validate(loader.Context))
	router := must(gorillamux.NewRouter(doc))
	for _, path := range []string{"/payments?expand=deposits,releases,sessions,webhooks", "/events", "/days"} {
		request := must(http.NewRequest("GET", doc.Servers[0].URL+"/merchant/v1"+path, nil))
		request.Header.Set("Authorization", "Bearer "+os.Getenv("KEY"))
		route, params, err := router.FindRoute(request)
		must(0, err)
		response := must(http.DefaultClient.Do(request))
		must(0, openapi3filter.ValidateResponse(loader.Context, &openapi3filter.ResponseValidationInput{
			RequestValidationInput: &openapi3filter.RequestValidationInput{Request: request, PathParams: params, Route: route},
			Status: response.StatusCode, Header: response.Header, Body: response.Body,
		}))
		fmt.Print(response.StatusCode, " ")
	}
}
